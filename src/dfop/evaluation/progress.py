"""One way to tell how far a loop has come."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dfop.rows.extras import need

Progress = bool | Callable[[int, int | None], object]


@contextmanager
def reporter(progress: Progress, total: int | None, what: str) -> Iterator[Callable[[int], None]]:
    """Give a function that is told how many more steps are done.

    Parameters
    ----------
    progress : bool or callable
        True draws a bar in the terminal (rich); a callable is called with the steps done and
        the total (None when unknown).
    total : int or None
        How many steps there will be.
    what : str
        The words beside the bar.

    Yields
    ------
    callable
        ``advance(n)``.

    Examples
    --------
    >>> with reporter(lambda done, total: print(done, "of", total), 3, "rows") as advance:
    ...     advance(2)
    ...     advance(1)
    2 of 3
    3 of 3
    """
    if callable(progress):
        tell, done = progress, 0

        def count(n: int) -> None:
            nonlocal done
            done += n
            tell(done, total)

        yield count
    elif progress:
        with need("rich.progress", extra="cli").Progress(transient=True) as bar:
            task = bar.add_task(what, total=total)
            yield lambda n: bar.advance(task, n)
    else:
        yield lambda n: None
