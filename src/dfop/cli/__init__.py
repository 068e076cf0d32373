"""The command ``dfop``, its commands one by one."""

from . import demo
from .commands import app

__all__ = ["app", "demo"]
