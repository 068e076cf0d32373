"""Where an experiment gets its rows: the published file, else the generator, else nowhere."""

from dataclasses import replace
from typing import NamedTuple

from dfop.evaluation.sources import ArrayStream, in_memory
from dfop.streams import DownloadError, Stream, load

from .run import Run
from .settings import PaperStream


class Supplied(NamedTuple):
    """Rows, and where they come from."""

    rows: ArrayStream
    source: str


def supply(run: Run, stream: PaperStream) -> Supplied | None:
    """Read a stream, cut short for a quick run.

    Parameters
    ----------
    run : Run
        Is told, once, what had to be generated or left out.
    stream : PaperStream
        Which one.

    Returns
    -------
    Supplied or None
        None if there is neither a file nor a generator.

    Examples
    --------
    >>> from pathlib import Path
    >>> from .settings import REGRESSION
    >>> supplied = supply(Run(Path("unused")), REGRESSION[0])
    >>> len(supplied.rows), supplied.source
    (2000, 'generated')
    """
    whole, source = _published(run, stream), "published file"
    if whole is None:
        if stream.generate is None:
            return None
        whole = stream.generate(seed=0)
        source = "stand-in, generated" if stream.stand_in else "generated"
    rows = in_memory(whole[: run.rows(len(whole))])
    return Supplied(replace(rows, name=stream.name), source)


def _published(run: Run, stream: PaperStream) -> Stream | None:
    if not stream.key or stream.name in run.left_out:
        return None
    try:
        return load(stream.key)
    except (DownloadError, ImportError) as error:
        _tell(run, stream, error)
        return None


def _tell(run: Run, stream: PaperStream, reason: Exception) -> None:
    run.left_out[stream.name] = str(reason)
    if stream.generate is None:
        instead = "left out"
    elif stream.stand_in:
        instead = "a generated stand-in takes its place"
    else:
        instead = "drawn anew from its known geometry"
    why = f" ({reason})" if isinstance(reason, ImportError) else ""
    run.say(f"{stream.name}: no file{why}; {instead}.")
