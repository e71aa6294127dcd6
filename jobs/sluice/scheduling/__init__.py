"""Airflow: operators, hooks, task bodies and forms. The only package that imports airflow."""
