"""Produce: lines of a file as records of a topic, to have something to read.

A helper for trying things out: pipelines never write to Kafka.
"""
