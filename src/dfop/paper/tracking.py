"""Figure 3: how well DFOP follows the weights of the regression hyperplane."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dfop.regressor import DFOPRegressor
from dfop.streams import hyperplane_regression

from .run import Run, table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FACTORS = (0.01, 0.05, 0.0, 0.2)
EVERY = 10
FRESH = 500
FIRST = (0, 1, 3, 6)
"""Where the three features that count begin, in each of the four stages."""


def true_weights(t: int, rows: int) -> NDArray[np.float64]:
    """Give the weights that row t of the hyperplane has.

    Examples
    --------
    >>> true_weights(1999, 2000).round(2)
    array([0.  , 0.  , 0.  , 0.  , 0.  , 0.  , 0.33, 0.33, 0.33, 0.  ])
    """
    weights = np.zeros(10)
    start = FIRST[4 * t // rows]
    weights[start : start + 3] = 1 / 3
    return weights


def follow(mu: float, seed: int, rows: int) -> dict[str, list[float]]:
    """Learn one hyperplane; every few rows, measure loss on fresh rows and error of the weights.

    Parameters
    ----------
    mu : float
        Forgetting factor.
    seed : int
        Of the stream and of the fresh rows.
    rows : int
        Length of the stream.

    Returns
    -------
    dict
        Square loss and distance, a value for every `EVERY` rows learned.

    Examples
    --------
    >>> path = follow(0.05, seed=0, rows=400)
    >>> path["distance"][8] < 0.2 < path["distance"][9]  # the concept changes at row 100
    True
    """
    stream = hyperplane_regression(rows, seed=seed)
    assert stream.fresh is not None
    rng = np.random.default_rng([seed, 1])
    model = DFOPRegressor(mu, fit_intercept=False, cap=None)
    loss, distance = [], []
    t = 0
    for X, y in stream.batches(EVERY):
        model.partial_fit(np.asarray(X), y)
        t += len(y)
        concept = min(t, rows - 1)  # of the row that comes next
        fresh, target = stream.fresh(concept, FRESH, rng)
        loss.append(float(np.mean((model.predict(fresh) - target) ** 2)))
        distance.append(float(np.linalg.norm(model.coef_ - true_weights(concept, rows))))
    return {"loss": loss, "distance": distance}


def tracking(run: Run) -> None:
    """Draw square loss on fresh rows and the error of the weights over time.

    Parameters
    ----------
    run : Run
        Files ``tracking.csv``, ``tracking.md`` and the picture go into its folder.
    """
    rows = 2000
    cells = [{"mu": mu, "seed": seed, "rows": rows} for mu in FACTORS for seed in range(run.trials)]
    done = run.each("tracking", follow, cells, {"every": EVERY, "fresh": FRESH})
    found: dict[float, dict[str, Any]] = {
        mu: {
            key: np.mean(
                [r[key] for c, r in zip(cells, done, strict=True) if c["mu"] == mu], axis=0
            )
            for key in ("loss", "distance")
        }
        for mu in FACTORS
    }
    at = np.arange(EVERY, rows + 1, EVERY)
    run.write_csv(
        "tracking",
        ["mu", "rows", "square_loss", "weight_error"],
        [
            [mu, t, f"{loss:.6f}", f"{distance:.5f}"]
            for mu, paths in found.items()
            for t, loss, distance in zip(at, paths["loss"], paths["distance"], strict=True)
        ],
    )
    half = (at % 500 > 250) | (at % 500 == 0)
    fields = [
        [
            f"{mu:g}",
            f"{100 * paths['loss'].mean():.3f}",
            f"{100 * paths['loss'][half].mean():.3f}",
            f"{paths['distance'].mean():.3f}",
            f"{paths['distance'][half].mean():.3f}",
        ]
        for mu, paths in sorted(found.items())
    ]
    run.write_markdown(
        "tracking",
        "Tracking the weights",
        [
            f"Regression hyperplane, four stages of 500 rows; mean over {run.trials} streams. "
            f"Square loss x 100 on {FRESH} fresh rows (noise alone: 0.33) and distance "
            "||w - w_hat|| of the learned weights from the true ones; over all rows, and over the "
            "second half of every stage, when a learner that forgets has settled.",
            table(
                ["mu", "loss, all", "loss, settled", "distance, all", "distance, settled"], fields
            ),
            "The noise is cut off where the target leaves [0, 1], so the best linear weights are "
            "not exactly the true ones.",
            "![Loss and weight error over time](tracking.png)",
        ],
    )
    run.save("tracking", lambda: _picture(at, found))


def _picture(at: NDArray[Any], found: dict[float, dict[str, Any]]) -> "Figure":
    from .figures import GREY, curves, panels

    figure, (left, right) = panels(1, 2, 13, 4)
    changes = (500, 1000, 1500)

    def named(key: str) -> list[tuple[str, Any]]:
        return [("mu = 0 (RLS)" if m == 0 else f"mu = {m:g}", p[key]) for m, p in found.items()]

    curves(
        left, at, named("loss"), title="Square loss on fresh rows",
        ylabel="mean squared error (log scale)", ylim=(0.0022, 0.1), changes=changes, log=True,
    )  # fmt: skip
    left.axhline(0.1**2 / 3, color=GREY, linewidth=1, linestyle="--")
    left.annotate(
        "noise, the least possible", (20, 0.1**2 / 3), xytext=(0, -10), textcoords="offset points",
        fontsize=8, color=GREY,
    )  # fmt: skip
    top = 1.05 * max(p["distance"][1:].max() for p in found.values())
    curves(
        right, at, named("distance"), title="Distance of the weights from the true ones",
        ylabel="||w - w_hat||", ylim=(0, top), changes=changes,
    )  # fmt: skip
    figure.suptitle(
        "Regression hyperplane: its weights change at the dotted lines",
        x=0.01,
        ha="left",
    )
    return figure
