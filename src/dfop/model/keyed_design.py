"""Designs of which there can be one model per key."""

from __future__ import annotations

from typing import Any

from dfop.forgetting import ByClock, Duration, Few, seconds_of

from .settings import Settings


def checked_design(settings: Settings) -> Settings:
    """Refuse a design that one record per key cannot hold."""
    if settings.several_experts and not isinstance(settings.rule, Few):
        raise ValueError(
            "an automatic model of each key would take half a megabyte: give forgetting='few', its "
            "small form, or a forgetting such as 0.001 or half_life('30d') and linear features"
        )
    if settings.lags or settings.transformer is not None:
        raise ValueError("models by key have no lags and no transformer: make features before")
    if settings.experts is not None:
        raise ValueError("models by key have no experts of your own: leave out experts=")
    for name in ("prior_mean", "prior_covariance", "storage", "monitor", "semi"):
        if getattr(settings, name) not in (None, False):
            raise ValueError(f"models by key have no {name}: leave out {name}=")
    if settings.pending_expiry is not None:
        raise ValueError("models by key know pending_limit, not pending_expiry")
    return settings


def checked_expiry(expire: Any, settings: Settings) -> int | float | None:
    """Return rows, or seconds as a float."""
    if expire is None:
        return None
    if isinstance(expire, bool) or not isinstance(expire, int | float | Duration):
        raise ValueError(f"expire={expire!r} must be a number of rows or a duration such as '30d'")
    if isinstance(expire, int):
        if expire < 1:
            raise ValueError(f"expire={expire} rows is too short: at least 1")
        return expire
    if not isinstance(settings.rule, ByClock):
        raise ValueError(
            f"expire={expire!r} is a duration, which needs a model that forgets by the clock: give "
            "a whole number of rows"
        )
    return expire if isinstance(expire, float) else seconds_of(expire)
