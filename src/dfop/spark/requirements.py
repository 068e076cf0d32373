"""What must be installed for Spark, and a sentence that says so where it is not."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from importlib.metadata import version

_REMEDY = "pip install 'dfop[spark]' (PySpark 4, pandas 2, pyarrow, protobuf), and Java 17"


def check_installed() -> None:
    """Refuse to go on without PySpark 4 or without Java.

    Examples
    --------
    >>> check_installed()
    """
    needed = ("pyspark", "pandas", "pyarrow", "google.protobuf")
    missing = [name for name in needed if not _is_there(name)]
    if missing:
        raise ImportError(f"dfop.spark needs {' and '.join(missing)}: {_REMEDY}")
    if int(version("pyspark").partition(".")[0]) < 4:
        raise ImportError(f"dfop.spark needs PySpark 4, not {version('pyspark')}: {_REMEDY}")
    if not (_in_a_worker() or _java()):
        raise ImportError(f"dfop.spark needs Java, and there is none (JAVA_HOME, PATH): {_REMEDY}")


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # of the package that it is in
        return False


def _in_a_worker() -> bool:
    """Whether Spark has started this process: then there is a Java that did it."""
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    return spec is not None and spec.name.startswith("pyspark.")


def _java() -> str | None:
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=os.path.join(home, "bin") if home else None)
