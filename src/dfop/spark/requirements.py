"""What must be installed for Spark, and a sentence that says so where it is not."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_JAVA = 17
_REMEDY = "pip install 'dfop[spark]' (PySpark 4, pandas 2, pyarrow, protobuf), and Java 17"


def check_installed() -> None:
    """Refuse to go on without PySpark 4, pandas 2 or Java 17.

    Examples
    --------
    >>> check_installed()
    """
    needed = ("pyspark", "pandas", "pyarrow", "google.protobuf")
    missing = [name for name in needed if not _is_there(name)]
    if missing:
        raise ImportError(f"dfop.spark needs {' and '.join(missing)}: {_REMEDY}")
    try:
        spark = _major("pyspark")
    except PackageNotFoundError:  # its modules are there, of Spark Connect's client
        raise ImportError(
            "dfop.spark needs PySpark itself, not its client (pyspark-client), which has no way "
            f"for the models to the workers: {_REMEDY}"
        ) from None
    if spark < 4:
        raise ImportError(f"dfop.spark needs PySpark 4, not {version('pyspark')}: {_REMEDY}")
    if _major("pandas") != 2:
        raise ImportError(f"dfop.spark needs pandas 2, not {version('pandas')}: {_REMEDY}")
    if _in_a_worker():
        return
    java = _java()
    if java is None:
        raise ImportError(f"dfop.spark needs Java, and there is none (JAVA_HOME, PATH): {_REMEDY}")
    if (known := _java_version(java)) is not None and known < _JAVA:
        raise ImportError(f"dfop.spark needs Java {_JAVA}, not {known} ({java}): {_REMEDY}")


def _major(package: str) -> int:
    return int(version(package).partition(".")[0])


def _java_version(java: str) -> int | None:
    """Return which Java it is, by the file of its folder that says so; None where there is none.

    Java 8 calls itself 1.8.
    """
    release = Path(java).resolve().parents[1] / "release"
    try:
        found = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', release.read_text("utf-8"), re.MULTILINE)
    except (OSError, UnicodeDecodeError):
        return None
    return None if found is None else int(found[1])


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
