"""The command ``dfop``, its commands one by one."""

from .commands import app

__all__ = ["app"]
