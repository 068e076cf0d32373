"""The diagram of mean ranks."""

from typing import TYPE_CHECKING

from dfop.insight.plotting import COLOURS, GREY, axes_or_new
from dfop.rows.extras import need

from .sources import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_ranks(
    ax: "Axes | None", mean_ranks: dict[str, float], p_values: Array, difference: float
) -> "Axes":
    """Draw a critical-difference diagram.

    Parameters
    ----------
    ax : matplotlib Axes or None
        Where to draw.
    mean_ranks : dict of str to float
        By model.
    p_values : array of shape (models, models)
        In the same order; models above .05 are joined by a bar.
    difference : float
        The critical difference, for the legend.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> ax = draw_ranks(None, {"A": 1.2, "B": 1.8, "C": 3.0}, np.ones((3, 3)), 2.3)
    >>> ax.texts[-1].get_text()
    'orange bar: no significant difference (Nemenyi, 95 %: less than 2.30)'
    """
    names = list(mean_ranks)
    posthocs = need("scikit_posthocs", extra="stats")
    matrix = need("pandas", extra="stats").DataFrame(p_values, index=names, columns=names)
    ax = axes_or_new(ax, height=1.2 + 0.22 * len(names))
    posthocs.critical_difference_diagram(
        mean_ranks,
        matrix,
        ax=ax,
        label_fmt_left="{label}  {rank:.2f}",
        label_fmt_right="{rank:.2f}  {label}",
        text_h_margin=0.03,
        color_palette=dict.fromkeys(names, COLOURS[0]),
        crossbar_props={"color": COLOURS[1], "linewidth": 4, "marker": ""},
    )
    ax.annotate(
        f"orange bar: no significant difference (Nemenyi, 95 %: less than {difference:.2f})",
        (0, 0),
        xycoords="axes fraction",
        xytext=(0, -12),
        textcoords="offset points",
        fontsize=8,
        color=GREY,
    )
    return ax
