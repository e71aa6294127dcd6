"""The embedded broker and Airflow: real ones, each in a folder of its own."""
