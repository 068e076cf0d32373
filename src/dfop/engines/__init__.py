"""What learns numbers: a filter, a sketch of one, or a bank of experts. One place builds them."""

from .build import Engine, build_engine, is_bank
from .filtered import learn_filtered

__all__ = ["Engine", "build_engine", "is_bank", "learn_filtered"]
