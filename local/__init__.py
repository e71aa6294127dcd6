"""The embedded stack: a real broker, a real Airflow and real data, on loopback ports."""
