"""A DAG for each spec of the folder of specs, and those that are about all pipelines."""

from sluice.airflow import pipeline_dags

globals().update(pipeline_dags())
