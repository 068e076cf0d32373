import json

import numpy as np
import pytest

from dfop.streams import catalogue, load


@pytest.fixture
def manifest(data):
    return json.loads((data / "manifest.json").read_text("utf-8"))


def test_facts_agree_with_the_manifest_of_the_files(manifest):
    entries = catalogue()
    for fact in manifest["datasets"]:
        entry = entries[fact["name"]]
        assert entry.rows == fact["rows"]
        assert entry.features == fact["features"]
        assert entry.targets == tuple(fact["targets"])
        assert entry.task == fact["task"]
        assert entry.kind == fact["kind"]
        assert entry.csv_sha256 == fact["csv_sha256"]
        assert entry.file == fact["file"]
        assert entry.origin == fact["home"]
        assert entry.citation == fact["citation"]
        assert entry.licence == fact["licence"]
        assert entry.paper == fact.get("paper")
        for ours, theirs in zip(entry.upstream, fact["upstream"], strict=False):
            assert (ours.url, ours.sha256, ours.bytes) == (
                theirs["url"],
                theirs["sha256"],
                theirs["bytes"],
            )
        if "drift_interval" in fact and fact["name"] != "1csurr":
            step = fact["drift_interval"]
            assert entry.changes == tuple(range(step, fact["rows"], step))
        if fact["name"] != "powersupply" and "class_counts" in fact:
            assert {str(label) for label in entry.classes} == set(fact["class_counts"])
    absent = {fact["name"]: fact for fact in manifest["not_included"]}["ug-2c-3d"]
    upstream = entries["ug-2c-3d"].upstream[0]
    assert upstream.url == absent["download"]["url"]
    assert upstream.git_blob_sha1 == absent["download"]["git_blob_sha1"]


def test_every_entry_says_where_it_comes_from_and_how_it_is_checked():
    for entry in catalogue().values():
        assert entry.origin
        assert entry.citation
        assert entry.licence
        assert entry.upstream
        assert entry.rows > 0
        for file in entry.upstream:
            assert file.url.startswith("https://")
            assert file.sha256 or file.git_blob_sha1


def test_differences_from_the_paper_are_told():
    entries = catalogue()
    for name, numbers in [("chess", "533 x 7"), ("luxembourg", "1,900 x 32")]:
        assert numbers in entries[name].remark
        paper = entries[name].paper
        assert (paper["instances"], paper["features"]) != (
            entries[name].rows,
            entries[name].features,
        )


def test_the_catalogue_cannot_be_changed():
    with pytest.raises(TypeError):
        catalogue()["sea"] = None


FILES = [name for name in catalogue() if name != "ug-2c-3d"]


@pytest.mark.parametrize("name", FILES)
def test_a_loaded_stream_has_the_rows_features_and_classes_of_the_manifest(manifest, name):
    file = catalogue()[name].file
    fact = next(fact for fact in manifest["datasets"] if fact["file"] == file)
    stream = load(name)
    assert stream.name == name
    X, y = stream.arrays()
    assert len(stream) == len(X) == fact["rows"]
    assert X.shape[1] == len(stream.feature_names) == fact["features"]
    assert np.isfinite(X).all()
    if fact["task"] == "classification" and name != "powersupply":
        values, counts = np.unique(y, return_counts=True)
        found = dict(zip(map(str, values.tolist()), counts.tolist(), strict=True))
        assert found == fact["class_counts"]
        assert stream.classes == tuple(values.tolist())


def test_powersupply_is_relabelled_to_am_and_pm(data):
    hours = load("powersupply-hours").arrays()[1]
    halves = load("powersupply")
    assert halves.classes == ("am", "pm")
    assert halves.arrays()[1].tolist() == ["am" if hour < 12 else "pm" for hour in hours]


def test_the_outputs_of_sru_can_be_had_together_or_alone(data):
    both = load("sru").arrays()[1]
    assert both.shape == (10_081, 2)
    np.testing.assert_array_equal(load("sru-1").arrays()[1], both[:, 0])
    np.testing.assert_array_equal(load("sru-2").arrays()[1], both[:, 1])


def test_first_rows_are_those_of_the_published_files(data):
    X, y = load("electricity")[:1].arrays()
    assert X[0].tolist() == [0, 2, 0, 0.056443, 0.439155, 0.003467, 0.422915, 0.414912]
    assert y[0] == "UP"
    X, y = load("sea")[2:3].arrays()
    assert X[0].tolist() == [0.878607722, 0.919708406, 4.903802179]
    assert y[0] == 1


def test_fresh_rows_are_offered_only_where_the_concept_is_known(data):
    assert load("sea").fresh is not None
    assert load("mg-2c-2d").fresh is not None
    assert load("hyperplane").fresh is None
    assert load("weather").fresh is None
