"""Runs that survive being killed: generations of a run, the place in its source, the run itself.

`Run` learns from files and pipes; `Folder` keeps its generations, and those of any other program
that can say where it stands in a few values.
"""

from .disk import DISK, Disk
from .folder import Folder
from .generation import CheckpointError, Generation
from .options import Options
from .run import Run, StoppedError

__all__ = [
    "DISK",
    "CheckpointError",
    "Disk",
    "Folder",
    "Generation",
    "Options",
    "Run",
    "StoppedError",
]
