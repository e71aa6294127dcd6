"""Airflow: operators, hooks, task bodies and forms. The only importer of airflow."""
