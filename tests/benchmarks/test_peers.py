"""The comparison with other learners: what chance is, what is kept, what is counted and told."""

import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"
if not BENCHMARKS.exists():  # in a source archive
    pytest.skip("the benchmarks are not here", allow_module_level=True)
sys.path.append(str(BENCHMARKS))

from peers import chance, pages, river_systems, roster, systems  # noqa: E402
from peers.__main__ import main  # noqa: E402
from peers.measure import measure, run  # noqa: E402
from peers.page import (  # noqa: E402
    IN_SHORT,
    KINDS,
    MARKS,
    cell,
    families_page,
    in_short,
    left_out,
    paper_page,
)
from peers.picture import SHOWN, title  # noqa: E402
from peers.record import Entry, Record, RecordError  # noqa: E402
from peers.rows import LABELS, NUMBERS, Rows, family_rows  # noqa: E402
from peers.summary import contests, counts  # noqa: E402


def entry(system="dfop", losses=(5, 6, 7, 8), stream="Electricity", **other):
    values = {
        "stream": stream, "task": LABELS, "system": system, "form": "", "kind": system,
        "library": "dfop", "version": "1", "limit": 200, "rows": 200, "columns": 3,
        "us_per_row": 2.0, "losses": np.array(losses, dtype=float),
    }  # fmt: skip
    return Entry(**values | other)


# -- chance ---------------------------------------------------------------------------------------


def test_the_test_is_students_on_differences_of_block_means():
    rng = np.random.default_rng(0)
    for shift in (0.0, 0.05, 0.5, -0.5):
        ours, other = rng.random(1000), rng.random(1000) + shift
        found = chance.compared(chance.block_sums(ours), chance.block_sums(other), 1000)
        blocks = (other - ours).reshape(20, 50).mean(axis=1)
        p = stats.ttest_1samp(blocks, 0.0).pvalue
        assert found.mean == pytest.approx((other - ours).mean())
        assert found.error == pytest.approx(stats.sem(blocks))
        expected = chance.BETTER if found.mean > 0 else chance.WORSE
        assert found.verdict == (expected if p < 0.05 else chance.CHANCE)


def test_of_equals_one_in_twenty_is_called_different():
    rng = np.random.default_rng(1)
    draws = rng.random((2, 2000, 500))
    called = [
        chance.compared(chance.block_sums(a), chance.block_sums(b), 500).verdict != chance.CHANCE
        for a, b in zip(*draws, strict=True)
    ]
    assert np.mean(called) == pytest.approx(0.05, abs=0.015)


def test_rows_that_hang_together_are_no_evidence_each_for_itself():
    """Losses in runs of 50 rows: a test that takes rows for draws finds differences everywhere."""
    rng = np.random.default_rng(2)
    called, naive = [], []
    for _ in range(400):
        ours, other = np.repeat(rng.random((2, 40)), 50, axis=1)
        found = chance.compared(chance.block_sums(ours), chance.block_sums(other), 2000)
        called.append(found.verdict != chance.CHANCE)
        naive.append(stats.ttest_rel(ours, other).pvalue < 0.05)
    assert np.mean(called) < 0.1 < 0.5 < np.mean(naive)


@pytest.mark.parametrize("n", [1, 49, 50, 503, 5000, 10_081])
def test_blocks_hold_every_row_once(n):
    edges = chance.block_edges(n)
    assert (edges[0], edges[-1]) == (0, n)
    assert len(edges) - 1 <= 100
    assert n < 100 or np.diff(edges).min() >= 50
    losses = np.random.default_rng(n).random(n)
    assert chance.block_sums(losses).sum() == pytest.approx(losses.sum())


def test_who_diverges_is_worse():
    finite, broken = np.ones(4), np.array([1.0, np.inf, 1.0, 1.0])
    assert chance.compared(finite, broken, 200).verdict == chance.BETTER
    assert chance.compared(broken, finite, 200).verdict == chance.WORSE
    assert chance.compared(broken, broken, 200).verdict == chance.CHANCE
    assert chance.compared(finite, finite, 200).verdict == chance.CHANCE


# -- the record -----------------------------------------------------------------------------------


def test_a_record_is_read_as_it_was_kept(tmp_path):
    path = tmp_path / "record.csv"
    record = Record(path, 200)
    kept = [entry(), entry("River, kNN", (1, 2.5, 1e-9, np.inf), task=NUMBERS)]
    for one in kept:
        record.add(one)
    again = Record(path, 200)
    for one, other in zip(kept, again.entries, strict=True):
        assert one.cells() == other.cells()
    assert again.has(("Electricity", "dfop", ""), "1")
    assert not again.has(("Electricity", "dfop", ""), "2")
    assert entry().score == pytest.approx(100 * (1 - 26 / 200))


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_line_that_was_cut_off_is_made_again(tmp_path, cut):
    path = tmp_path / "record.csv"
    record = Record(path)
    record.add(entry())
    record.add(entry("no-change"))
    path.write_bytes(path.read_bytes()[:-cut])
    record = Record(path)
    assert [one.system for one in record.entries] == ["dfop"]
    record.add(entry("no-change"))
    record.add(entry("majority"))
    assert [one.system for one in Record(path).entries] == ["dfop", "no-change", "majority"]


def test_of_two_lines_the_later_counts_and_rewriting_keeps_what_is_asked_for(tmp_path):
    record = Record(tmp_path / "record.csv")
    for one in (entry(), entry("gone"), entry(losses=(1, 1, 1, 1))):
        record.add(one)
    record = Record(tmp_path / "record.csv")
    assert record.entries[0].losses.sum() == 4
    key = ("Electricity", "dfop", "")  # twice: of labels and of numbers it is another system
    record.rewrite([key, ("Electricity", "missing", ""), key])
    assert len((tmp_path / "record.csv").read_text().splitlines()) == 2
    assert [one.system for one in Record(tmp_path / "record.csv").entries] == ["dfop"]


def test_scores_of_other_rows_are_not_set_beside_these(tmp_path):
    path = tmp_path / "record.csv"
    Record(path).add(entry())
    with pytest.raises(RecordError, match=r"first 200 rows.*--rows 0"):
        Record(path, 0)
    Record(path).add(entry("no-change", limit=100))
    with pytest.raises(RecordError, match="mixes"):
        Record(path)


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "", None])
def test_what_is_no_record_is_refused(tmp_path, text):
    path = tmp_path / "record.csv"
    if text is None:
        Record(path).add(entry())
        path.write_text(path.read_text() + "x,y\n")
    else:
        path.write_text(text)
    if text == "":
        assert Record(path).entries == []
        return
    with pytest.raises(RecordError):
        Record(path)


# -- runs -----------------------------------------------------------------------------------------


def toy(n=300, task=LABELS):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=n)
    return Rows("toy", task, X, (y > 0).astype(np.int64) if task == LABELS else y)


OWN = [system for system in roster.SYSTEMS if system.library == "dfop"]
HERE = [(system, task) for system in [*OWN, *river_systems.SYSTEMS] for task in system.tasks]
"""Systems that the developers' environment has."""


@pytest.mark.parametrize(("system", "task"), HERE, ids=lambda one: getattr(one, "name", one))
def test_a_run_scores_predictions_made_before_the_label(system, task):
    rows = toy(100, task)
    found = run(system, rows, 0)
    told = system.ready(rows)()
    losses = told != rows.y if task == LABELS else (told - rows.y) ** 2
    assert found.losses.sum() == pytest.approx(losses.sum())
    turned = dataclasses.replace(rows, y=np.concatenate([rows.y[:-1], 1 - rows.y[-1:]]))
    assert system.ready(turned)()[-1] == told[-1]  # the last label cannot have been seen


def test_every_system_has_a_place_of_its_own_and_a_column():
    places = [(system.name, task) for system in roster.SYSTEMS for task in system.tasks]
    assert len(set(places)) == len(places)
    assert {system.kind for system in roster.SYSTEMS} == {*KINDS, roster.OURS}
    assert set(IN_SHORT) <= {system.peer for system in roster.SYSTEMS}
    assert set(SHOWN) <= set(KINDS)


def test_no_change_among_the_peers_says_the_last_label():
    system = next(one for one in OWN if one.peer == "no-change")
    rows = toy()
    np.testing.assert_array_equal(system.ready(rows)()[1:], rows.y[:-1])


def test_peers_that_are_there_are_not_run_again_but_ours_are(tmp_path):
    rows, runs = toy(), []

    def ready(name):
        return lambda rows: runs.append(name) or (lambda: rows.y)

    two = [systems.System(k, k, "dfop", (LABELS,), ready(k)) for k in ("dfop", "peer")]
    wide = systems.System("wide", "wide", "dfop", (LABELS,), ready("wide"), most_columns=1)
    for _ in range(2):
        measure(Record(tmp_path / "r.csv", 0), [*two, wide], ["toy"], lambda name, n: rows, 0)
    assert runs == ["dfop", "peer", "dfop"]


def test_a_family_has_as_many_rows_as_asked_for():
    rows = family_rows("classes_100 1", 400)
    assert rows.X.shape[0] == len(rows.y) == 400
    with pytest.raises(ValueError, match="how many"):
        family_rows("tree 1", None)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["paper", "--rows", "-1"], "--rows -1"),
        (["families", "--rows", "0"], "--rows 0"),
        (["paper", "--rows", "77"], "move the file away"),
    ],
)
def test_the_command_refuses_what_makes_no_sense(given, told, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(given)
    assert told in f"{stopped.value} {capsys.readouterr().err}"


# -- what is told ---------------------------------------------------------------------------------


def three_streams():
    noise = np.array([0, 1, 0, 1])
    for stream, kNN in (("Electricity", 20), ("SEA", 5), ("Chess", 1)):
        yield entry(stream=stream, losses=5 + noise)
        yield entry("kNN", kNN + noise[::-1], stream)
        yield entry("River ALMA", (30, 31, 30, 30), stream, kind="linear")
        scaled = {"form": "scaled", "kind": "linear"}
        yield entry("River ALMA", (40, 40, 40, 41), stream, **scaled)


def test_peers_are_counted_by_what_is_beyond_chance_in_their_better_form():
    found = contests(three_streams())
    assert counts(found, lambda one: one.rivals["kNN"]) == (1, 1, 1)
    assert counts(found, lambda one: one.best()) == (1, 1, 1)
    assert counts(found, lambda one: one.rivals.get("absent")) == (0, 0, 0)
    alma = found[0].rivals["River ALMA"]
    assert alma.entry.form == ""
    assert cell(alma) == f"39.50 {MARKS[chance.BETTER]}"
    assert "better than the best of 2 peers" in title(found)
    assert "on 1, within chance of it on 1, worse on 1" in title(found)
    assert "the first 200 rows of 3 streams" in title(found)
    assert "| the best of 2 peers, picked for each stream | 3 | 1 | 1 | 1 |" in in_short(found)


def test_without_ours_or_on_other_rows_nothing_is_compared():
    with pytest.raises(RecordError, match="nothing of dfop"):
        contests([entry("kNN")])
    with pytest.raises(RecordError, match="different rows"):
        contests([entry(), entry("kNN", rows=199)])


def test_the_page_says_who_was_not_run_where():
    made = [systems.System(k, k, "dfop", (LABELS,), toy) for k in ("dfop", "kNN", "slow", "SVM")]
    entries = [*three_streams(), entry("slow", stream="SEA")]
    _, told = left_out(entries, made)
    assert told.splitlines() == [
        "- slow (labels): ran on 1 of 3 streams, not on Electricity, Chess",
        "- SVM (labels): ran on 0 of 3 streams, not on Electricity, SEA, Chess",
    ]
    assert left_out(entries, made[:2]) == []


def test_a_part_of_a_page_is_replaced_and_nothing_else():
    page = f"A\n{pages.BEGIN}\nold\n{pages.END}\nB"
    once = pages.replaced(page, "new")
    assert once == f"A\n{pages.BEGIN}\n\nnew\n\n{pages.END}\nB"
    assert pages.replaced(once, "new") == once
    with pytest.raises(ValueError, match="no part"):
        pages.replaced("A", "new")


# -- what is committed ----------------------------------------------------------------------------


def without_last_line(page):
    """The last line says where it was measured."""
    return page.rstrip("\n").rpartition("\n")[0]


@pytest.mark.parametrize(
    ("record", "page"), [(pages.PAPER, paper_page), (pages.FAMILIES, families_page)]
)
def test_the_committed_pages_are_those_of_the_committed_record(record, page):
    text = record.with_suffix(".md").read_text("utf-8")
    assert without_last_line(text) == without_last_line(page(Record(record).entries, ""))


def test_the_counts_in_other_pages_are_those_of_the_committed_record():
    short = in_short(contests(Record(pages.PAPER).entries))
    for path in pages.SHORT_FORM_IN:
        text = path.read_text("utf-8")
        assert pages.replaced(text, short) == text
    assert pages.PICTURE.name in (ROOT / "README.md").read_text("utf-8")
