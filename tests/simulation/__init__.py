"""The simulator: random histories of a pipeline, judged after every step, shrunk when they fail.

    python -m tests.simulation --seed 7 --minutes 5

The product's own pipeline runs over real Delta tables, a log in memory and a lake without Spark. A
history is a list of steps, each a name and four numbers; the same list is the same history.
"""
