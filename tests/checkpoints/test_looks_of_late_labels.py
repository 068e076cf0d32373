"""What a page shows of forgetting and influence where labels come late."""

import pytest
from small_runs import LATE, options, write_late_rows, write_rows

from dfop.checkpoints import Run

LENGTH = 32


def looks(monkeypatch, chunk, **given):
    """Return the looks of a run whose rows come in batches of about so many bytes."""
    monkeypatch.setattr("dfop.streams.chunks.CHUNK", chunk)
    with Run(options(None, **given)) as run:
        run.history.looks.length = LENGTH
        for _ in run.steps():
            pass
        return run.history.looks, run.history.rows


@pytest.mark.parametrize("given", [{"delay": "15"}, LATE], ids=["a delay", "a file of labels"])
def test_there_are_curves_and_they_do_not_depend_on_batches(tmp_path, monkeypatch, given):
    monkeypatch.chdir(tmp_path)
    write_late_rows(tmp_path) if "labels" in given else write_rows(tmp_path / "rows.csv")
    found, rows = looks(monkeypatch, 500, **given)
    assert len(found.kept) >= 240 // LENGTH - 1  # one for so many rows, but for the first few
    at = [look.row for look in found.kept]
    assert at == sorted(set(at))
    assert all(0 < row < rows for row in at)
    assert all("size" in look.influence for look in found.kept)
    for chunk in (90, 2**20):
        assert looks(monkeypatch, chunk, **given)[0].state() == found.state()
