"""What earlier versions wrote: formats 1 and 2, turned into the parts of format 3.

Format 1 had single filters only: no ``features`` and ``lags`` among the parameters, no bank and no
watch. Its first files had columns of numbers only, and say nothing about how they are coded.
"""

from .reading import rebuild

__all__ = ["rebuild"]
