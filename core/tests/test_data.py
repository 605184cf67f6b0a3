"""Data sets: fetched from a real server, checked, whole or not at all."""

import hashlib
import http.server
import json
import threading

import pytest

from evalkit.data import RECORD, Pull, data_folder, pulled
from evalkit.errors import UsageError


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A web server whose files can be changed, and a data folder of the test's own."""
    monkeypatch.setenv("EVALKIT_DATA", str(tmp_path / "data"))
    files = {"/set.zip": b"the first version"}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = files.get(self.path)
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Length", str(len(body or b"") + (5 if self.path == "/torn" else 0)))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", files
    server.shutdown()
    server.server_close()


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def test_a_file_is_fetched_and_its_hash_recorded(site):
    url, files = site
    pull = Pull("toy", f"{url}/set.zip")
    path = pull.fetch("deep/set.zip")
    assert pulled("toy") is None  # not before it is complete
    pull.finish()
    assert path == data_folder("toy") / "deep" / "set.zip"
    assert path.read_bytes() == files["/set.zip"]
    assert pulled("toy")["files"] == {"deep/set.zip": sha256(files["/set.zip"])}
    assert pulled("toy")["source"] == f"{url}/set.zip"


def test_changed_data_is_refused_until_it_is_accepted(site):
    url, files = site
    first = Pull("toy", f"{url}/set.zip")
    path = first.fetch("set.zip")
    first.finish()
    files["/set.zip"] = b"the second version"
    with pytest.raises(UsageError, match=r"the data has changed; --accept-changed"):
        Pull("toy", f"{url}/set.zip").fetch("set.zip")
    assert path.read_bytes() == b"the first version"
    accepted = Pull("toy", f"{url}/set.zip", accept_changed=True)
    accepted.fetch("set.zip")
    accepted.finish()
    assert path.read_bytes() == b"the second version"


def test_a_pinned_hash_always_holds(site):
    url, _ = site
    with pytest.raises(UsageError, match="not the pinned version"):
        Pull("toy", f"{url}/set.zip", accept_changed=True).fetch("set.zip", sha256=sha256(b"other"))
    assert not (data_folder("toy") / "set.zip").exists()
    assert Pull("toy", f"{url}/set.zip").fetch("set.zip", sha256=sha256(b"the first version")).is_file()


@pytest.mark.parametrize(("path", "why"), [("/missing", "the server answered 404"), ("/torn", "broke off")])
def test_what_cant_be_had_leaves_nothing_behind(site, path, why):
    url, files = site
    files["/torn"] = b"half"
    with pytest.raises(UsageError, match=rf"can't fetch http://127.0.0.1:\d+/\w+: .*{why}.*; --from takes"):
        Pull("toy", url + path).fetch("set.zip")
    assert list(data_folder("toy").iterdir()) == []


def test_a_server_that_nobody_runs_is_named(site):
    with pytest.raises(
        UsageError, match=r"can't fetch http://127\.0\.0\.1:9/set.zip: the server can't be reached"
    ):
        Pull("toy", "http://127.0.0.1:9/set.zip").fetch("set.zip")


def test_a_file_of_ones_own(site, tmp_path):
    mine = tmp_path / "mine.zip"
    mine.write_bytes(b"mine")
    pull = Pull("toy", str(mine))
    assert pull.fetch("set.zip").read_bytes() == b"mine"
    with pytest.raises(UsageError, match="there is no file"):
        Pull("toy", str(tmp_path / "none.zip")).fetch("set.zip")


def test_progress_is_told_in_bytes(site):
    url, files = site

    class Bar:
        total = 0
        done = 0
        closed = False

        def update(self, n):
            self.done += n

        def reset(self):
            self.done = 0

        def close(self):
            self.closed = True

    bar = Bar()
    Pull("toy", f"{url}/set.zip", bar=lambda title: bar).fetch("set.zip")
    assert bar.total == len(files["/set.zip"])
    assert bar.closed


def test_a_damaged_record_counts_as_none(site):
    data_folder("toy").mkdir(parents=True)
    (data_folder("toy") / RECORD).write_text("{")
    assert pulled("toy") is None
    (data_folder("toy") / RECORD).write_text(json.dumps({"files": 3}))
    assert pulled("toy") is None
