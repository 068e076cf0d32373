r"""Three ways to average a loss over time.

With :math:`\ell_t` the loss of row :math:`t` (for accuracy: 1 if the prediction is right)

* accumulated: :math:`\frac1t \sum_{i \le t} \ell_i`, the paper's AA(t); the whole past;
* windowed: the mean of the last :math:`w` rows, or of all while there are fewer;
* faded: :math:`S_t / N_t` with :math:`S_t = \ell_t + \alpha S_{t-1}`,
  :math:`N_t = 1 + \alpha N_{t-1}`, the fading factor of Gama, Sebastião and Rodrigues (2013).
  With :math:`\alpha = 1 - 1/w` the weights sum to :math:`w`, so that a window and a fading
  factor of the same :math:`w` look back equally far.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def accumulated(loss: Floats) -> Floats:
    """Average over all rows so far.

    Examples
    --------
    >>> accumulated(np.array([1.0, 0.0, 0.0, 1.0]))
    array([1.        , 0.5       , 0.33333333, 0.5       ])
    """
    return np.asarray(np.cumsum(loss) / np.arange(1, len(loss) + 1))


def windowed(loss: Floats, window: int) -> Floats:
    """Average over the last ``window`` rows.

    Every sum is the tail of one block of ``window`` rows and the head of the next. A running
    sum would be as fast, but after one huge loss it would be wrong for ever.

    Examples
    --------
    >>> windowed(np.array([1.0, 0.0, 0.0, 1.0]), 2)
    array([1. , 0.5, 0. , 0.5])
    """
    n = len(loss)
    window = min(window, n)
    blocks = np.zeros((-(-n // window) + 1, window))  # a block of zeros before the first row
    blocks.reshape(-1)[window : window + n] = loss
    head = np.cumsum(blocks, axis=1).reshape(-1)[window:]
    tail = np.cumsum(blocks[:, ::-1], axis=1)[:, ::-1].reshape(-1)[1:]
    # The window that ends at row t begins at row t + 1 - window; it is a whole block, and its
    # head alone, where t is the last row of a block.
    t = np.arange(n)
    sums = head[:n] + np.where((t + 1) % window == 0, 0.0, tail[:n])
    return np.asarray(sums / np.minimum(t + 1, window))


def faded(loss: Floats, window: int) -> Floats:
    """Average with weights that fade by the factor ``1 - 1 / window`` per row.

    Examples
    --------
    >>> faded(np.array([1.0, 0.0, 0.0, 1.0]), 2)
    array([1.        , 0.33333333, 0.14285714, 0.6       ])
    """
    from scipy.signal import lfilter  # slow to load, and only pictures need it

    recursion = [1.0, -(1.0 - 1.0 / window)]
    sums = lfilter([1.0], recursion, loss)
    weights = lfilter([1.0], recursion, np.ones(len(loss)))
    return np.asarray(sums / weights)
