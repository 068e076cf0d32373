"""What a page of measurements says about where they were made."""

import os
import platform
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path


def machine(packages: Iterable[str]) -> str:
    """Return processor, system, and the versions of Python and packages, as a list in Markdown."""
    return f"- {where()}\n- Python {platform.python_version()}; " + ", ".join(
        f"{package} {version(package)}" for package in packages
    )


def where() -> str:
    """Return processor, cores and system."""
    return f"{processor()}, {os.cpu_count()} cores; {platform.system()} {platform.machine()}"


def processor() -> str:
    """Return the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    found = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(found, platform.processor())
