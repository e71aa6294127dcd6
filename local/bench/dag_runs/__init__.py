"""The bench of DAG runs: Sluice in a real Airflow, on a warm Spark server."""
