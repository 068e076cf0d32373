"""The automatic learner on every stream, with no argument."""

from .target import automatic

__all__ = ["automatic"]
