"""Airflow: operators, hooks, task bodies, forms and the page.

Only this package and `sluice.airflow` import airflow.
"""
