"""What learns numbers: a filter, a sketch of one, or a bank of experts. One place builds them."""

from .build import Engine, build_engine, is_bank, is_bounded
from .filtered import learn_filtered

__all__ = ["Engine", "build_engine", "is_bank", "is_bounded", "learn_filtered"]
