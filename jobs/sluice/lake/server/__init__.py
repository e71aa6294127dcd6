"""A Spark Connect server: sessions on it, and what is asked of it before it is trusted."""
