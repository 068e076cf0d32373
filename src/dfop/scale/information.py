"""`Information`: what rows taught, in a form in which partitions of a stream can be merged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dfop.classifier import DFOPClassifier
from dfop.core import Filter
from dfop.engines.filter_triangle import from_filter, to_filter
from dfop.engines.information import Summary, settled, summarise, then, with_prior
from dfop.engines.rounding import undetermined
from dfop.files.information import pack_information, unpack_information
from dfop.files.resuming import numbers_coder, resume
from dfop.forgetting import Automatic, ByClock, Forgetting
from dfop.model.label_targets import LabelTarget
from dfop.model.merging import coding_of, decoding_of, merged_columns, merged_targets, read_targets
from dfop.model.settings import Settings
from dfop.model.targets import NumberTarget
from dfop.regressor import DFOPRegressor
from dfop.rows.times import Clock
from dfop.rows.weights import RowWeights, fade_between, row_weights

from .mergeable import (
    bounds_of,
    cap_of,
    check_mergeable,
    check_same_settings,
    plain,
    prior_of,
    rows_of,
    same_classes,
)

Array = NDArray[np.float64]

_LARGEST_STEP = 2.0**26
"""A feature that grows by more at one step is taken as a new one by a filter."""


class LimitError(ValueError):
    """A limit acted, or may have, or rounding decides: it would not be the model of one machine.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop import Information, LimitError
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> X[500:, 1] = 0.0  # never heard of again
    >>> try:
    ...     Information.from_data(X, X[:, 0], forgetting=0.05).to_learner()
    ... except LimitError as error:
    ...     print("refused")
    refused
    """


@dataclass(frozen=True, eq=False)
class Information:
    """What rows taught: partitions of a stream, learned apart, merge to the model of the whole.

    For a before b, ``a.then(b)`` is what the rows of both teach, so any tree over consecutive
    partitions gives the same model as one machine that learned all rows in their order (to about
    1e-9 of the weights; see the page on scale). `from_data` learns a partition, `to_learner` makes
    a `DFOPRegressor` or `DFOPClassifier` of the result, which goes on.

    Where rows stop exciting a direction a learner's cap acts and keeps what forgetting would take;
    the merged form cannot know what was kept. It finds out instead (`limited`), and `to_learner`
    refuses: learn those rows one after the other.

    Attributes
    ----------
    settings : Settings
        What it is learned with; parts that are merged must have the same.
    names : tuple of str or None
        Of the columns, where they have names: then columns are matched by name.
    target : NumberTarget or LabelTarget
        What is learned.
    clock, opened : Clock
        When the last row came, and the first, where it forgets by the clock.
    sums, counts : ndarray of shape (d,)
        The sum and the number of the values of each column.
    informed : ndarray of bool
        Of which weights the prior is in it: those of the learner that it was made from.
    summary : Summary
        What the rows left behind.

    See Also
    --------
    Keyed : Many models of one design.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop import DFOPRegressor, Information
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(3000, 3))
    >>> y = X @ [1.0, 2.0, 3.0] + rng.normal(size=3000)
    >>> parts = [Information.from_data(X[i : i + 1000], y[i : i + 1000], forgetting=0.001)
    ...          for i in (0, 1000, 2000)]  # anywhere, at the same time
    >>> merged = parts[0].then(parts[1].then(parts[2])).to_learner()
    >>> one_machine = DFOPRegressor(forgetting=0.001).fit(X, y)
    >>> bool(np.abs(merged.coef_ - one_machine.coef_).max() < 1e-12)
    True
    """

    settings: Settings
    names: tuple[str, ...] | None
    target: NumberTarget | LabelTarget
    clock: Clock
    opened: Clock
    sums: Array
    counts: Array
    informed: NDArray[np.bool_]
    summary: Summary

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: Any,
        forgetting: float | Forgetting,
        *,
        time: Any = None,
        labels: bool = False,
        classes: Any = None,
        fit_intercept: bool = True,
        prior_variance: float | None = None,
        cap: float | None = 1e6,
    ) -> Self:
        """Learn a partition: rows that came one after the other.

        Parameters
        ----------
        X : array-like of shape (n, features)
            The rows, oldest first: numbers without gaps. There may be none.
        y : array-like of shape (n,) or (n, m)
            The targets.
        forgetting : float or rule
            mu, `dfop.period` or `dfop.half_life`.
        time : array-like of shape (n,), optional
            Time of each row, for a rule by the clock.
        labels : bool, default=False
            Whether `y` are class labels, not numbers.
        classes : array-like, optional
            Classes that there are besides those found in `y`.
        fit_intercept, prior_variance, cap
            As in `DFOPRegressor`.

        Returns
        -------
        Information
        """
        settings = Settings.of(
            forgetting=forgetting,
            fit_intercept=fit_intercept,
            prior_variance=prior_variance,
            cap=cap,
        )
        if isinstance(settings.rule, Automatic):
            raise ValueError(
                'the experts of "auto" and "few" cannot be merged, since they are combined row by '
                "row: give mu, period(...) or half_life(...)"
            )
        if classes is not None and not labels:
            raise ValueError("classes= is for labels: give labels=True, or leave it out")
        batch = rows_of(X)
        n, d = batch.numbers.shape
        target, Y = read_targets(y, n, labels, classes)
        first = last = Clock()
        fades = np.zeros(0)
        if n:
            weights = row_weights(settings.rule, n, first, time=time)
            assert isinstance(weights, RowWeights)
            fades, last = np.broadcast_to(-weights.log_discount, n), weights.clock
            if isinstance(settings.rule, ByClock):
                first = row_weights(settings.rule, 1, first, time=np.asarray(time)[:1]).clock
                first = replace(first, zoned=last.zoned)
        rows = np.hstack([np.ones((n, int(fit_intercept))), batch.numbers, Y])
        summary = summarise(rows, Y.shape[1], fades, bounds_of(settings))
        informed = np.zeros(summary.columns, bool)
        counts = np.full(d, float(n))
        return cls(
            settings, batch.names, target, last, first, batch.numbers.sum(axis=0), counts,
            informed, summary,
        )  # fmt: skip

    @classmethod
    def from_learner(cls, learner: DFOPRegressor | DFOPClassifier) -> Self:
        """Take what a learner knows, so that partitions of what came after it can follow.

        Parameters
        ----------
        learner : DFOPRegressor or DFOPClassifier
            A single filter (`forgetting` is no "auto") on columns of numbers, without lags and
            without rows that wait for their label.

        Returns
        -------
        Information
            Which can only be the first of those merged.
        """
        if not isinstance(learner, DFOPRegressor | DFOPClassifier):
            raise TypeError(
                f"learner is a {type(learner).__name__}, not a DFOPRegressor or DFOPClassifier"
            )
        model = learner.__dfop_model__()
        if model is None or not model.learned:
            raise ValueError("this learner has not learned a row yet: there is nothing to take")
        with model.lock:
            check_mergeable(model)
            engine, target = model.engine, model.target
            assert isinstance(engine, Filter)
            assert isinstance(target, NumberTarget | LabelTarget)
            means = model.coder.state()
            summary = from_filter(engine, model.learned, decoding_of(target))
            return cls(
                plain(model.settings), model.names, target, model.clock, Clock(),
                means["sums"], means["counts"], summary.seen, summary,
            )  # fmt: skip

    def then(self, later: Information) -> Information:
        """Return what these rows and then those of `later` teach.

        Parameters
        ----------
        later : Information
            Of the rows that came next. Where columns have names or `y` are labels, columns and
            classes that only one of the two has count as 0 in the rows of the other.

        Returns
        -------
        Information
        """
        if not isinstance(later, Information):
            raise TypeError(f"only an Information can follow one, not a {type(later).__name__}")
        check_same_settings(self.settings, later.settings)
        if later.informed.any():
            raise ValueError(
                "what a learner knows holds its whole past: it can only come first, not then"
            )
        between = fade_between(self.settings.rule, self.clock, later.opened)
        names, places = merged_columns(self.names, len(self.sums), later.names, len(later.sums))
        target, outputs = merged_targets(self.target, later.target)
        if self.informed.any() and not same_classes(target, self.target):
            raise ValueError(
                "a class comes that the learner, which is the first part, was not told: the "
                "classes of a learner are fixed with its first rows"
            )
        shift = int(self.settings.fit_intercept)
        d = len(self.sums) if names is None else len(names)
        m = len(target.order) if isinstance(target, LabelTarget) else target.outputs
        a = self.summary
        known = len(a.factor) - a.columns
        a = a.embedded(list(range(a.columns)), d + shift, list(range(known)), m)
        columns = [*range(shift), *(shift + at for at in places)]
        b = later.summary.embedded(columns, d + shift, outputs, m)
        sums, counts = np.zeros((2, d))
        sums[: len(self.sums)], counts[: len(self.counts)] = self.sums, self.counts
        sums[places] += later.sums
        counts[places] += later.counts
        informed = np.zeros(d + shift, bool)
        informed[: len(self.informed)] = self.informed
        return Information(
            settings=self.settings,
            names=names,
            target=target,
            clock=later.clock if later.summary.rows else self.clock,
            opened=self.opened if self.summary.rows else later.opened,
            sums=sums,
            counts=counts,
            informed=informed,
            summary=settled(then(a, b, between), bounds_of(self.settings)),
        )

    @property
    def rows(self) -> int:
        """How many rows were learned."""
        return self.summary.rows

    @property
    def limited(self) -> bool:
        """Whether a learner of these rows alone is refused: a limit acted, or rounding decides.

        On the safe side: it may be said of rows that came near a limit, within a factor of ten.
        """
        return self._refusal(self._whole()) is not None

    def _whole(self) -> Summary:
        """Return what the rows left behind, with the prior."""
        return with_prior(self.summary, prior_of(self.settings), ~self.informed)

    def _limited_columns(self, whole: Summary) -> NDArray[np.bool_]:
        with np.errstate(divide="ignore", invalid="ignore"):
            jumped = whole.largest / whole.first > 0.5 * _LARGEST_STEP
        jumped &= whole.seen
        return bounds_of(self.settings).passed(whole.peak, whole.largest) | jumped

    def to_learner(self) -> DFOPRegressor | DFOPClassifier:
        """Make the learner that has learned these rows; it goes on.

        As that of one machine, within 1e-9, as long as further rows could be merged as well: a
        limit that acts later acts at another moment than there.

        Returns
        -------
        DFOPRegressor or DFOPClassifier
            As `y` was.

        Raises
        ------
        LimitError
            If a limit acted, or may have, or rounding decides weights (`limited`).
        """
        if not self.summary.rows:
            raise ValueError("there is no row in it: a learner needs one")
        whole = self._whole()
        refusal = self._refusal(whole)
        if refusal is not None:
            raise LimitError(refusal)
        settings, target = self.settings, self.target
        kind = DFOPClassifier if isinstance(target, LabelTarget) else DFOPRegressor
        learner = kind(
            settings.rule,
            fit_intercept=settings.fit_intercept,
            prior_variance=settings.prior_variance,
            cap=settings.cap,
        )
        engine = to_filter(
            whole,
            coding_of(target),
            intercept=settings.fit_intercept,
            prior_variance=prior_of(settings),
            cap=cap_of(settings),
        )
        resume(
            learner,
            target,
            engine,
            names=self.names,
            clock=self.clock,
            rows=self.summary.rows,
            coder=numbers_coder(self.sums, self.counts),
        )
        return learner

    def _refusal(self, whole: Summary) -> str | None:
        """Return why these rows make no learner, if they do not."""
        names = ["the constant"] * self.settings.fit_intercept
        names += [f"column {name!r}" for name in self.names or range(len(self.sums))]
        limited = self._limited_columns(whole)
        if limited.any():
            return (
                f"a limit acted on {names[int(np.argmax(limited))]}, or may have: the rows do not "
                "excite it enough for this forgetting, and a learner then keeps what merging "
                "cannot know. Learn the rows one after the other (partial_fit), forget more "
                "slowly, or leave the column out"
            )
        unsure = undetermined(whole, self.summary, bool(self.settings.fit_intercept))
        if unsure.any():
            return (
                f"rounding decides the weight of {names[int(np.argmax(unsure))]}: the rows say too "
                "little of it beside its size and that of other columns. Leave out all but one of "
                "columns that are nearly the same, bring columns to about the same size, or learn "
                "the rows one after the other (partial_fit)"
            )
        return None

    def to_bytes(self) -> bytes:
        """Return it as bytes that `from_bytes` reads.

        Returns
        -------
        bytes
        """
        return pack_information(vars(self))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read what `to_bytes` wrote. Reading never runs code from the bytes.

        Parameters
        ----------
        data : bytes
            All of them.

        Returns
        -------
        Information

        Raises
        ------
        ModelFileError
            If they are damaged or something else.
        """
        return cls(**unpack_information(data))
