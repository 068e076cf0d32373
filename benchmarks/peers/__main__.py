"""The command: ``make peers``, or ``python -m peers`` in the folder of the benchmarks.

python -m peers paper              the paper's streams: page, picture, short forms
python -m peers families           generated families of labels: a page
python -m peers paper --show       the pages anew from the record, nothing is measured
python -m peers paper --rows 0     whole streams: a day

`DFOP_DATA` names the folder of the streams. Finished work is kept in ``results-peers.csv`` and
``results-families.csv``: the same command goes on after a kill.
"""

import argparse
import os
import sys
from importlib.metadata import PackageNotFoundError

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")
ROWS = 5_000
SEEDS = (1, 2)


def main(arguments: list[str] | None = None) -> None:
    from . import pages
    from .measure import key_of, measure
    from .record import Record, RecordError
    from .roster import FAMILY_SYSTEMS, SYSTEMS
    from .rows import family_names, family_rows, paper_names, paper_rows

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["paper", "families"])
    parser.add_argument("--rows", type=int, default=ROWS, help="first rows of each; 0 for all")
    parser.add_argument("--show", action="store_true", help="measure nothing, write the pages")
    given = parser.parse_args(arguments)
    if given.rows < 0 or (given.rows == 0 and given.what == "families"):
        parser.error(f"--rows {given.rows}: a number of rows, or 0 for all of the paper's streams")
    if given.what == "paper":
        path, systems, names, load = pages.PAPER, SYSTEMS, paper_names(), paper_rows
    else:
        path, systems = pages.FAMILIES, FAMILY_SYSTEMS
        names, load = family_names(SEEDS), family_rows
    try:
        if not given.show:
            record = Record(path, given.rows)
            measure(record, systems, names, load, given.rows)
            record.rewrite(key_of(name, system) for name in names for system in systems)
        (pages.write_paper if given.what == "paper" else pages.write_families)()
    except RecordError as error:
        sys.exit(str(error))
    except PackageNotFoundError as error:
        sys.exit(f"{error.name} is not installed here: `make peers` runs where all of them are")


if __name__ == "__main__":
    # One core against one core. Libraries read this when they are loaded, so import them after.
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    os.environ.setdefault("CAPYMOA_JVM_ARGS", "-Xmx2g -Xss10M -XX:+UseSerialGC")
    main()
