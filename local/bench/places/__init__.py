"""The bench of places: what a batch costs in a bucket, and on a cluster."""
