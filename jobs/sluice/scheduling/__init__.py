"""Airflow: operators, hooks, task bodies and forms. Only this package and `sluice.airflow` import airflow."""
