"""The benchmark of places: tables in a bucket, and Spark on a cluster, beside one machine alone.

    python -m local.bench.places [--records 1000000] [--records 10000] [--rounds 5] [CONTENDER]…

`sluice run`, cold and on a warm Spark server; each contender has two cores. Every turn is a whole
process, and ends with a check that its table has each record once more than before.
"""

from __future__ import annotations

from local.bench.command import command
from local.bench.places.contenders import COMPETITION

main = command(COMPETITION, __doc__)

if __name__ == "__main__":
    main()
