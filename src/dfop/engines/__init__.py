"""What learns numbers: a single filter, or a bank of experts. One place builds them."""

from .build import Engine, build_engine, is_bank

__all__ = ["Engine", "build_engine", "is_bank"]
