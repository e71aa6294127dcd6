"""The benchmarks: Sluice beside Spark alone, DAG runs in Airflow, and steps on large tables."""
