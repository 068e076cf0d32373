"""Downloads from a server on this machine: what arrives is checked, what is broken is not kept."""

import gc
import gzip
import hashlib
import importlib.util
import sys
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from dfop.streams import DataError, DownloadError, Upstream, catalogue, load
from dfop.streams.download import find

ROWS = "1.5,2.5,1\n-3e-05,4.5,2\n"
CSV = "x1,x2,y\n" + ROWS


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


class Server:
    """Files by name; `cut` promises more bytes than it sends."""

    def __init__(self):
        self.files, self.cut, self.asked = {}, set(), []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                name = self.path[1:]
                outer.asked.append(name)
                if name not in outer.files:
                    self.send_error(404)
                    return
                body = outer.files[name].encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body[: len(body) // 2] if name in outer.cut else body)

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    def put(self, name, text):
        self.files[name] = text
        return f"http://127.0.0.1:{self.server.server_port}/{name}"

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def server():
    server = Server()
    yield server
    server.close()
    # A connection left open is warned of here, in the test that left it.
    gc.collect()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.delenv("DFOP_DATA", raising=False)
    monkeypatch.setenv("DFOP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return tmp_path / "cache"


def tiny(server, name="1cdt", text=ROWS, csv=CSV, **changes):
    """A catalogue entry of two rows that the local server publishes."""
    url = server.put("tiny.txt", text)
    facts = {
        "rows": 2,
        "file": "tiny.csv.gz",
        "csv_sha256": sha256(csv),
        "upstream": (Upstream(url, sha256=sha256(text), bytes=len(text)),),
    }
    return replace(catalogue()[name], **{**facts, **changes})


def content(path):
    return gzip.decompress(path.read_bytes()).decode()


def test_a_download_is_converted_cached_and_not_repeated(server, cache):
    entry = tiny(server)
    path = find(entry)
    assert path == cache / "tiny.csv.gz"
    assert content(path) == CSV
    assert find(entry) == path
    assert server.asked == ["tiny.txt"]
    assert [p.name for p in cache.iterdir()] == ["tiny.csv.gz"]


def test_the_same_download_gives_the_same_bytes(server, cache):
    path = find(tiny(server))
    first = path.read_bytes()
    path.unlink()
    assert find(tiny(server)).read_bytes() == first


def test_load_goes_through_the_cache(server, cache, monkeypatch):
    entry = tiny(server, name="powersupply", format="csv", columns=("a", "b", "y"),
                 csv=CSV.replace("x1,x2", "a,b"))  # fmt: skip
    monkeypatch.setattr("dfop.streams.loader.entry", lambda name: entry)
    stream = load("powersupply")
    X, y = stream.arrays()
    assert X.tolist() == [[1.5, 2.5], [-3e-5, 4.5]]
    assert y.tolist() == ["am", "am"]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("csv", ROWS.replace("\n", "\r\n")),
        ("csv with header", "a,b,target\n" + ROWS),
        ("arff", "@attribute a real\n@attribute b real\n@attribute c {1,2}\n@data\n" + ROWS),
        ("table", "\ta title\n\n" + " 1.5e+000  2.5 1\n -3.0e-005 4.5 2.0\n"),
    ],
)  # fmt: skip
def test_every_upstream_format_ends_as_the_same_csv(server, cache, kind, text):
    assert content(find(tiny(server, text=text, format=kind))) == CSV


def test_files_that_follow_one_another_are_joined(server, cache):
    texts = ROWS.splitlines(keepends=True)
    upstream = tuple(
        Upstream(server.put(f"part{i}.txt", text), sha256=sha256(text))
        for i, text in enumerate(texts)
    )
    assert content(find(tiny(server, upstream=upstream))) == CSV
    assert server.asked == ["part0.txt", "part1.txt"]


def refused(entry, cache, error=DownloadError):
    """The entry cannot be had, and nothing is left in the cache."""
    with pytest.raises(error) as caught:
        find(entry)
    assert list(cache.iterdir()) == []
    return str(caught.value)


def test_a_wrong_checksum_is_refused_and_not_cached(server, cache):
    entry = tiny(server)
    server.put("tiny.txt", ROWS.replace("2.5", "2.6"))
    assert "tiny.txt" in refused(entry, cache)


def test_half_a_file_is_refused_and_not_cached(server, cache):
    entry = tiny(server)
    server.cut.add("tiny.txt")
    assert "tiny.txt" in refused(entry, cache)
    server.cut.clear()
    assert content(find(entry)) == CSV


def test_a_wrong_git_hash_is_refused_and_not_cached(server, cache):
    body = ROWS.encode()
    blob = hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest()
    url = server.put("tiny.txt", ROWS)
    entry = tiny(server, name="ug-2c-3d", columns=("x1", "x2", "y"), csv_sha256=None,
                 upstream=(Upstream(url, git_blob_sha1=blob),))  # fmt: skip
    server.put("tiny.txt", ROWS + "5,6,1\n")
    assert "git blob SHA-1" in refused(entry, cache)
    server.put("tiny.txt", ROWS)
    path = find(entry)
    assert content(path) == CSV
    assert find(entry) == path
    # The converted file is checked by the same hash each time it is used.
    path.write_bytes(gzip.compress(CSV.replace("4.5", "4.6").encode()))
    with pytest.raises(DataError, match="checksum"):
        find(entry)


def test_a_conversion_that_gives_other_content_is_not_cached(server, cache):
    message = refused(tiny(server, csv_sha256="0" * 64), cache, DataError)
    assert "wrong checksum" in message


def test_an_interrupted_conversion_leaves_nothing(server, cache, monkeypatch):
    def interrupted(entry, paths):
        yield "x1,x2,y\n"
        raise KeyboardInterrupt

    monkeypatch.setattr("dfop.streams.download.convert", interrupted)
    with pytest.raises(KeyboardInterrupt):
        find(tiny(server))
    assert list(cache.iterdir()) == []


def test_absent_and_offline_says_where_to_put_which_file(server, cache):
    entry = tiny(server)
    server.files.clear()
    for message in (refused(entry, cache), offline(entry, cache)):
        assert entry.upstream[0].url in message
        assert "tiny.csv.gz" in message
        assert "tiny.txt" in message
        assert "DFOP_DATA" in message


def offline(entry, cache):
    # Nothing listens on port 9 of this machine.
    file = replace(entry.upstream[0], url="http://127.0.0.1:9/tiny.txt")
    return refused(replace(entry, upstream=(file,)), cache).replace(file.url, entry.upstream[0].url)


def test_a_folder_of_ones_own_comes_first(server, cache, tmp_path, monkeypatch):
    monkeypatch.setenv("DFOP_DATA", str(tmp_path))
    own = tmp_path / "tiny.csv.gz"
    own.write_bytes(gzip.compress(CSV.encode()))
    assert find(tiny(server)) == own
    assert server.asked == []
    own.write_bytes(gzip.compress(CSV.replace("4.5", "4.6").encode()))
    with pytest.raises(DataError, match=r"tiny\.csv\.gz: .*wrong checksum"):
        find(tiny(server))
    own.write_bytes(gzip.compress(CSV.encode())[:-9])
    with pytest.raises(DataError, match=r"tiny\.csv\.gz: the file is broken"):
        find(tiny(server))


def test_a_published_file_fetched_by_hand_is_converted(server, cache, tmp_path, monkeypatch):
    monkeypatch.setenv("DFOP_DATA", str(tmp_path))
    (tmp_path / "tiny.txt").write_text(ROWS)
    assert content(find(tiny(server))) == CSV
    assert server.asked == []
    (cache / "tiny.csv.gz").unlink()
    (tmp_path / "tiny.txt").write_text(ROWS[:-3])
    with pytest.raises(DataError, match=r"tiny\.txt: the SHA-256 is"):
        find(tiny(server))
    assert list(cache.iterdir()) == []


def test_a_broken_file_in_the_cache_is_refused_by_name(server, cache):
    path = find(tiny(server))
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError, match=r"tiny\.csv\.gz: the file is broken.*Delete it"):
        find(tiny(server))


@pytest.mark.skipif(importlib.util.find_spec("tqdm") is None, reason="tqdm draws the bar")
def test_progress_is_shown(server, cache, capsys):
    find(tiny(server))
    assert "100%" in capsys.readouterr().err


@pytest.mark.parametrize("package", ["pooch", "pyarrow"])
def test_a_missing_package_names_the_extra(server, cache, monkeypatch, package, tmp_path):
    monkeypatch.setitem(sys.modules, package, None)
    if package == "pyarrow":
        monkeypatch.setitem(sys.modules, "pyarrow.csv", None)
    monkeypatch.setattr("dfop.streams.loader.entry", lambda name: tiny(server))
    with pytest.raises(ImportError, match=rf"needs {package}: pip install 'dfop\[data\]'"):
        load("1cdt")
