"""Compares dfop with its peers and with the machine; writes results.md, .csv, .png beside itself.

Run with the extra ``bench`` installed: ``python benchmarks/run.py``, or ``make bench``.
"""

import os

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")

if __name__ == "__main__":
    # One core against one core. Libraries read this when they are loaded, so import them after.
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    from suite import main

    main()
