"""What Spark calls for the keys of a bucket: state in, rows out, timers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    StatefulProcessorHandle,
    TimerValues,
)

from dfop.forgetting import Forgetting
from dfop.regressor import DFOPRegressor

from .bucket import UNUSABLE, Bucket, Records

STATE = "models"
_STATE_SCHEMA = "settings string, models binary, last string, timer bigint"


@dataclass(frozen=True)
class StreamDesign:
    """What is learned of a stream.

    Attributes
    ----------
    key, target : str
        Columns.
    features : tuple of str
        Columns.
    whole : bool
        Whether keys are whole numbers, no texts.
    forgetting : float, rule or "few"
        As learners take it.
    expire : int or None
        Microseconds that a key may be idle.
    buckets : int
        Over which keys are spread.
    parameters : dict
        Further ones of a learner.
    """

    key: str
    target: str
    features: tuple[str, ...]
    whole: bool
    forgetting: float | Literal["few"] | Forgetting
    expire: int | None
    buckets: int
    parameters: dict[str, Any]

    def model(self) -> DFOPRegressor:
        """Return a new model."""
        return DFOPRegressor(self.forgetting, **self.parameters)

    def settings(self) -> dict[str, str]:
        """Return all of it in words, to tell a checkpoint of other settings."""
        return {
            "features": ", ".join(self.features),
            "target": self.target,
            "key": f"{self.key}, {'whole numbers' if self.whole else 'texts'}",
            "forgetting": str(self.forgetting),
            "expire": str(self.expire),
            "buckets": str(self.buckets),
            **{name: str(value) for name, value in self.parameters.items()},
        }

    def records(self, frame: Any) -> Records:
        """Return the records of a frame of Spark."""
        kinds = frame["kind"].to_numpy(np.int64)
        usable = kinds != UNUSABLE
        keys = frame["key"].to_numpy(object)
        if self.whole:
            keys = np.where(usable, keys, "0").astype(np.int64)
        else:
            keys = np.where(usable, keys, "")
        times = np.where(usable, frame["micros"].to_numpy(np.float64), 0.0).astype(np.int64)
        X = np.vstack(frame["x"].to_list()).astype(np.float64)
        y = frame["y"].to_numpy(np.float64)
        return Records(keys, times, kinds, X, y, frame["name"].to_numpy(object))


class LearnBucket(StatefulProcessor):
    """Predicts and learns the records of a bucket of keys.

    Parameters
    ----------
    design : StreamDesign
        What is learned.
    """

    def __init__(self, design: StreamDesign) -> None:
        self.design = design

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Take what gives access to the state."""
        self.handle = handle
        self.state = handle.getValueState(STATE, _STATE_SCHEMA)

    def handleInputRows(  # noqa: N802
        self, key: Any, rows: Iterator[Any], timerValues: TimerValues
    ) -> Iterator[Any]:
        """Take the records of a micro-batch."""
        frame = pd.concat(list(rows), ignore_index=True)
        bucket, timer = self._load()
        predicted, learned = bucket.take(self.design.records(frame))
        self._save(bucket, timer)
        out = frame[["key", "micros", "name", "y"]].copy()
        out["prediction"], out["learned"] = predicted, learned
        yield out

    def handleInitialState(  # noqa: N802
        self, key: Any, initialState: Any, timerValues: TimerValues
    ) -> None:
        """Write the settings to every bucket: a later start with others finds them in any."""
        self._save(Bucket.new(self.design.model(), self.design.expire), 0)

    def handleExpiredTimer(  # noqa: N802
        self, key: Any, timerValues: TimerValues, expiredTimerInfo: ExpiredTimerInfo
    ) -> Iterator[Any]:
        """Remove the models of keys that have been idle for too long."""
        bucket, _ = self._load()
        bucket.drop_idle(timerValues.getCurrentWatermarkInMs() * 1000)
        self._save(bucket, 0)
        return iter(())

    def close(self) -> None:
        """Nothing is left to do."""

    def _load(self) -> tuple[Bucket, int]:
        found = self.state.get()
        if found is None:
            raise ValueError(
                "the checkpoint was made with other settings, it has fewer buckets than "
                f"{self.design.buckets}: give the old ones, or another checkpointLocation"
            )
        settings, models, last, timer = found
        check_settings(json.loads(settings), self.design.settings())
        if models is None:  # no key yet, or none any more
            return Bucket.new(self.design.model(), self.design.expire), 0
        return Bucket.load(bytes(models), last, self.design.expire), timer

    def _save(self, bucket: Bucket, timer: int) -> None:
        settings = json.dumps(self.design.settings())
        if not bucket.last:
            self.state.update((settings, None, None, 0))
            return
        if (
            bucket.expire is not None and not timer
        ):  # one for all keys: it is set again when it fires
            timer = (min(bucket.last.values()) + bucket.expire) // 1000 + 1
            self.handle.registerTimer(timer)
        self.state.update((settings, *bucket.dump(), timer))


def check_settings(before: dict[str, str], now: dict[str, str]) -> None:
    """Refuse to go on with models that were made with other settings."""
    for name, value in now.items():
        if before.get(name) != value:
            raise ValueError(
                f"the checkpoint was made with other settings, {name} was {before.get(name)} and "
                f"is {value}: give the old ones, or another checkpointLocation"
            )
