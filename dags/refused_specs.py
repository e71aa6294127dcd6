"""The import error of all specs that have no DAG; this file has no DAGs of its own."""

from sluice.airflow import check_dags

check_dags()
