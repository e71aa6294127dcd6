"""The demo: a year of flights, with a kill in between."""
