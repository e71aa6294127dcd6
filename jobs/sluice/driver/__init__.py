"""Driver: what spark-submit runs, a script for each task that needs Spark."""

from pathlib import Path

# spark-submit takes a file, not a module: found where the package is installed.
SCRIPTS = Path(__file__).parent
