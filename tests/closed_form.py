"""The minimiser of the discounted objective with its prior, by one dense least-squares solve."""

import numpy as np


def closed_form(X, Y, lam, gain, *, p0=100.0, intercept=True):
    """Minimise sum_i Lambda(i,t) g_i (y_i - x_i'w)^2 + Lambda(0,t) |w|^2 / p0.

    Returns the weights, (d, outputs), the constant first where there is one. `lam` and `gain`
    have one entry per row. Columns are brought to unit size before the solve, so that wide
    ranges of scale cost no accuracy.
    """
    A = design(X, intercept)
    Y = columns(Y)
    log_lam = np.log(np.broadcast_to(lam, len(A)))
    total = np.concatenate([np.cumsum(log_lam[::-1])[::-1], [0.0]])
    root = np.sqrt(np.exp(total[1:]) * np.broadcast_to(gain, len(A)))[:, np.newaxis]
    size = np.maximum(np.abs(A).max(axis=0, initial=0.0), 1e-300)
    prior = np.diag(np.sqrt(np.exp(total[0]) / p0) / size)
    stacked = np.vstack([root * A / size, prior])
    targets = np.vstack([root * Y, np.zeros((len(prior), Y.shape[1]))])
    return np.linalg.lstsq(stacked, targets, rcond=None)[0] / size[:, np.newaxis]


def one_step_ahead(X, Y, lam, gain, **options):
    """What each row's prediction must be: the closed form of all rows before it."""
    A = design(X, options.get("intercept", True))
    Y = columns(Y)
    lam, gain = np.broadcast_to(lam, len(A)), np.broadcast_to(gain, len(A))
    return np.array(
        [A[t] @ closed_form(X[:t], Y[:t], lam[:t], gain[:t], **options) for t in range(len(A))]
    )


def design(X, intercept):
    X = np.asarray(X, float)
    return np.column_stack([np.ones(len(X)), X]) if intercept else X


def columns(Y):
    Y = np.asarray(Y, float)
    return Y[:, np.newaxis] if Y.ndim == 1 else Y


def weights_of(model):
    """All weights of a model, laid out as `closed_form` returns them."""
    coef, constant = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    return (np.column_stack([constant, coef]) if model.fit_intercept else coef).T
