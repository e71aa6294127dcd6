"""The bench of scale: large synthetic tables, and what a step costs on them."""
