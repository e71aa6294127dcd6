"""Schema registries: the texts that records' schema numbers stand for, and what is kept of them."""
