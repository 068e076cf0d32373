import pytest


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    """Files come in small pieces, so that a small file has many batches."""
    monkeypatch.setattr("dfop.streams.chunks.CHUNK", 500)
