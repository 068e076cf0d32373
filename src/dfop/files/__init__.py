"""Models in files and bytes: a numbered format of numbers and text, which cannot run code.

`saving` is what users call; `container` the bytes of a file; `format3` what is in one; `replacing`
how a file appears whole or not at all. `old` reads what earlier versions wrote.
"""

from .container import ModelFileError
from .saving import from_bytes, load, save, to_bytes

__all__ = ["ModelFileError", "from_bytes", "load", "save", "to_bytes"]
