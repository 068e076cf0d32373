"""The arithmetic peak of one core, measured rather than looked up: clock rates vary under load."""

import ctypes
import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path


def load_multiply_add() -> Callable[[float], None] | None:
    """Compile ``peak.cpp``; return a function that spends that many flops, None if it cannot be."""
    source = Path(__file__).with_name("peak.cpp")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "peak.so"
        compiler = os.environ.get("CXX", "c++")
        try:
            subprocess.run(
                [compiler, "-O2", "-shared", "-fPIC", "-o", library, source],
                check=True,
                capture_output=True,
            )
            loaded = ctypes.CDLL(str(library))
        except (OSError, subprocess.CalledProcessError):
            return None
    loaded.has_avx2_and_fma.restype = ctypes.c_bool
    if not loaded.has_avx2_and_fma():
        return None
    loaded.multiply_add.argtypes = [ctypes.c_long, ctypes.c_double, ctypes.c_double]
    loaded.multiply_add.restype = ctypes.c_double
    per_iteration = loaded.flops_per_iteration()

    def spend(flops: float) -> None:
        loaded.multiply_add(int(flops / per_iteration), 0.999, 0.001)

    return spend
