"""The benchmark: Sluice beside plain Spark, availableNow and the raw limit, turn by turn.

    python -m local.bench [--records 2000000] [--records 10000] [--rounds 5] [CONTENDER]…

Every turn of a contender is a whole process, and ends with a check that its table has each record
once more than before. Only ratios count: seconds depend on the machine and its load.
"""

from __future__ import annotations

from local.bench.command import command
from local.bench.contenders import COMPETITION

main = command(COMPETITION, __doc__)

if __name__ == "__main__":
    main()
