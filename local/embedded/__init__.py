"""The embedded broker and Airflow: real ones, each in its own folder."""
