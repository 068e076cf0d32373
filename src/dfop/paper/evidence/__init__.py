"""What the results page says beside the tables, so that all of it can be run again."""

from collections.abc import Callable

from dfop.paper.run import Run, table

from .factors import real_streams, regression_streams
from .flaws import divergence, label_leak
from .section import Line, Section
from .starts import starts
from .variants import additive_experts, cap_on_electricity, svm_windows

__all__ = ["SECTIONS", "evidence"]

SECTIONS: tuple[Callable[[Run], Section], ...] = (
    label_leak,
    divergence,
    real_streams,
    regression_streams,
    starts,
    svm_windows,
    additive_experts,
    cap_on_electricity,
)


def evidence(run: Run) -> None:
    """Write what explains the differences from the paper.

    Parameters
    ----------
    run : Run
        Files ``evidence.csv``, ``evidence-starts.csv`` and ``evidence.md`` go into its folder.
    """
    sections = []
    for at, find_out in enumerate(SECTIONS):
        run.tell(f"evidence: {find_out.__name__.replace('_', ' ')}", at, len(SECTIONS))
        sections.append(find_out(run))
    run.tell("evidence", len(SECTIONS), len(SECTIONS))
    run.write_csv(
        "evidence",
        Line._fields,
        [
            [*line[:-2], f"{line.mean:.5f}", "" if line.std is None else f"{line.std:.5f}"]
            for section in sections
            for line in section.lines
        ],
    )
    run.write_csv(
        "evidence-starts",
        ["stream", "method", "start", "accuracy"],
        [trial for section in sections for trial in section.each],
    )
    paragraphs = []
    for section in sections:
        body = table(section.header, section.rows) if section.rows else "Left out, no file."
        paragraphs += [f"## {section.title}", section.text, body]
    run.write_markdown("evidence", "Evidence", paragraphs)
