"""Where reading begins: for `start`, and for resets."""
