import pytest

from dfop.paper import Run


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A quick run on one core that has no file and no network."""
    monkeypatch.setenv("DFOP_DATA", str(tmp_path / "nothing"))
    monkeypatch.setenv("DFOP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("dfop.streams.download._fetch", _no_network)
    messages = []
    made = Run(tmp_path / "results", quick=True, jobs=1, say=messages.append)
    made.messages = messages
    return made


def _no_network(entry, file, incoming, pooch):
    from dfop.streams import DownloadError

    raise DownloadError(f"cannot get {entry.name}")
