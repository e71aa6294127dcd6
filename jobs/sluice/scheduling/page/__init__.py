"""The page *Kafka offsets* in Airflow: all pipelines, one pipeline, one batch."""
