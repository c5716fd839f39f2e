"""`python -m harness.hub` with the official client library, against a hub on loopback."""

import base64
import hashlib
import http.server
import json
import os
import subprocess
import sys
import threading

import pytest

import terminal
from conftest import CHECKERS

SECRET = "ghp_" + "a1B2" * 9
TOKEN = "hf_" + "x" * 34
pytest.importorskip("huggingface_hub", reason="the hub's official client is not installed here")


class Hub:
    """What a hub has after it was asked: repositories with their files, and the tokens that it saw."""

    def __init__(self):
        self.repositories, self.objects, self.tokens, self.refuses, self.looked = {}, {}, set(), "", 0
        handler = type("Handler", (HubHandler,), {"hub": self})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class HubHandler(http.server.BaseHTTPRequestHandler):
    hub = None
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, body, status=200):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        if status == 404:
            self.send_header("x-error-code", "RepoNotFound")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def body(self):
        if self.headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("content-length", 0)))
        pieces = []
        while size := int(self.rfile.readline(), 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)

    def do_POST(self):
        hub, body = self.hub, self.body()
        hub.tokens.add(self.headers.get("authorization"))
        if hub.refuses:
            self.answer({"error": hub.refuses}, 403)
        elif self.path == "/api/repos/create":
            asked = json.loads(body)
            name = f"{asked['organization']}/{asked['name']}"
            hub.repositories.setdefault(name, {"kind": asked.get("type", "model"), "private": asked.get("visibility") == "private", "files": {}})
            self.answer({"url": f"{hub.address}/{name}"})
        elif "/preupload/" in self.path:
            files = json.loads(body)["files"]
            self.answer({"files": [{"path": file["path"], "uploadMode": "lfs" if file["path"].endswith(".safetensors") else "regular", "shouldIgnore": False} for file in files]})
        elif self.path.endswith("/info/lfs/objects/batch"):
            objects = [{"oid": one["oid"], "size": one["size"], "actions": {"upload": {"href": f"{hub.address}/store/{one['oid']}", "header": {}}}} for one in json.loads(body)["objects"]]
            self.answer({"transfer": "basic", "objects": objects})
        elif "/commit/" in self.path:
            name = "/".join(self.path.split("/")[3:5])
            for line in map(json.loads, body.splitlines()):
                if line["key"] == "file":
                    hub.repositories[name]["files"][line["value"]["path"]] = base64.b64decode(line["value"]["content"])
                elif line["key"] == "lfsFile":
                    hub.repositories[name]["files"][line["value"]["path"]] = hub.objects[line["value"]["oid"]]
            self.answer({"commitOid": "c0ffee", "commitUrl": f"{hub.address}/{name}/commit/c0ffee", "success": True})
        else:
            self.answer({"error": "not found"}, 404)

    def do_GET(self):
        found = self.hub.repositories.get("/".join(self.path.split("/")[3:5]))
        self.hub.looked += 1
        if found is None:
            self.answer({"error": "Repository not found"}, 404)
        else:
            self.answer({"id": "x", "private": found["private"], "sha": "c0ffee", "siblings": [], "tags": []})

    def do_PUT(self):
        data = self.body()
        assert hashlib.sha256(data).hexdigest() == self.path.rpartition("/")[2]
        self.hub.objects[self.path.rpartition("/")[2]] = data
        self.answer({})


@pytest.fixture
def hub(monkeypatch):
    hub = Hub()
    # The library reads its settings once, when it is imported; another store than the plain one needs a real hub.
    for name, value in {"HF_ENDPOINT": hub.address, "HF_TOKEN": TOKEN, "HF_HUB_DISABLE_XET": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(folder for folder in sys.path if folder.startswith(str(CHECKERS))))
    yield hub
    hub.server.shutdown()
    hub.server.server_close()


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "train.jsonl").write_text('{"messages": [{"role": "user", "content": "fix it"}]}\n')
    (folder / "valid.jsonl").write_text("")
    (folder / "notes.bak").write_text("mine")
    (folder / ".env").write_text(f"TOKEN={SECRET}\n")
    return folder


def command(*words):
    return [sys.executable, "-m", "harness.hub", *map(str, words)]


def publish(*words, **more):
    return subprocess.run(command(*words), capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, **more)


def test_a_dataset_is_shown_and_goes(hub, data):
    shown = publish("dataset", data, "me/tasks", "--dry-run")
    assert shown.returncode == 0 and hub.tokens == set() and hub.looked == 0 and "private" in shown.stderr
    assert all(name in shown.stderr for name in ("train.jsonl", "valid.jsonl", "me/tasks", hub.address)) and "stays here  notes.bak" in shown.stderr
    done = publish("dataset", data, "me/tasks", "--yes")
    assert done.returncode == 0 and done.stdout == f"{hub.address}/me/tasks/commit/c0ffee\n", done.stderr
    expected = {name: (data / name).read_bytes() for name in ("train.jsonl", "valid.jsonl")}
    assert hub.repositories == {"me/tasks": {"kind": "dataset", "private": True, "files": expected}}
    assert hub.tokens == {f"Bearer {TOKEN}"} and TOKEN not in done.stdout + done.stderr
    assert publish("dataset", data, "me/tasks", "--yes").returncode == 0


def test_what_everybody_can_read_must_be_asked_for(hub, data):
    hub.repositories["me/tasks"] = {"kind": "dataset", "private": False, "files": {}}
    refused = publish("dataset", data, "me/tasks", "--yes")
    assert refused.returncode == 2 and "hint: " in refused.stderr and hub.repositories["me/tasks"]["files"] == {}
    assert publish("dataset", data, "me/tasks", "--yes", "--public").returncode == 0


def test_weights_go_through_the_store(hub, tmp_path):
    folder = tmp_path / "adapter"
    (folder / "checkpoints").mkdir(parents=True)
    weights = bytes(range(256)) * 40_000
    (folder / "adapters.safetensors").write_bytes(weights)
    (folder / "checkpoints" / "0001.safetensors").write_bytes(b"first")
    (folder / "adapter_config.json").write_text('{"rank": 8}')
    done = publish("model", folder, "me/adapter", "--public", "--yes")
    assert done.returncode == 0, done.stderr
    assert hub.repositories["me/adapter"]["private"] is False
    assert hub.repositories["me/adapter"]["files"] == {"adapters.safetensors": weights, "checkpoints/0001.safetensors": b"first", "adapter_config.json": b'{"rank": 8}'}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32", "utf-8-sig"])
@pytest.mark.parametrize("name", ["train.jsonl", "notes.md"])
def test_a_secret_in_another_encoding_goes_nowhere(hub, data, encoding, name):
    for text in (f"\u4f60\u597d {SECRET}\n", json.dumps({"text": SECRET}) + "\n", "x" * ((4 << 19) - 9) + f" {SECRET}"):
        (data / name).write_bytes(text.encode(encoding))
        refused = publish("dataset", data, "me/tasks", "--dry-run")
        assert refused.returncode == 5 and name in refused.stderr and SECRET not in refused.stderr, text[:40]
    if name.endswith("l"):
        (data / name).write_bytes((json.dumps({"text": SECRET}).replace("ghp_", "\\u0067hp_") + "\n").encode(encoding))
        assert publish("dataset", data, "me/tasks", "--dry-run").returncode == 5
    (data / name).write_bytes('{"text": "fix it"}\n'.encode(encoding))
    assert publish("dataset", data, "me/tasks", "--dry-run").returncode == 0


@pytest.mark.parametrize("name", ["AKIA" + "ABCD" * 4 + ".jsonl", f"{SECRET}/train.jsonl", f"of {SECRET}.md"])
def test_a_secret_in_a_name_goes_nowhere(hub, data, name):
    (data / name).parent.mkdir(exist_ok=True)
    (data / name).write_text("{}\n")
    refused = publish("dataset", data, "me/tasks", "--yes")
    assert refused.returncode == 5 and "name of a file" in refused.stderr and "hint: " in refused.stderr and hub.tokens == set()
    assert SECRET not in refused.stderr and "AKIA" not in refused.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="such names are not allowed elsewhere")
def test_a_name_does_nothing_to_the_terminal(hub, data):
    for name in ("a\x1b[2Jb\u202ec.jsonl", "d\re\nf.bak", "\u00e4\u6f22 g.jsonl", os.fsdecode(b"\xff.bak")):
        (data / name).write_text("{}\n")
    shown = publish("dataset", data, "me/tasks", "--dry-run")
    assert shown.returncode == 0 and all(char == "\n" or char.isprintable() for char in shown.stderr), shown.stderr
    assert all(name in shown.stderr for name in ("a\\x1b[2Jb\\u202ec.jsonl", "d\\re\\nf.bak", "\u00e4\u6f22 g.jsonl"))
    (data / "a\x1b[2Jb\u202ec.jsonl").write_text(SECRET)
    shown = publish("dataset", data, "me/tasks", "--dry-run")
    assert shown.returncode == 5 and "\x1b" not in shown.stderr and "a\\x1b[2Jb" in shown.stderr
    missing = publish("dataset", data / "no\x1bfolder", "me/tasks", "--dry-run")
    assert missing.returncode == 2 and "\x1b" not in missing.stderr


@pytest.mark.parametrize("where", ["plain", "escaped", "between two pieces", "as a name"])
def test_a_secret_goes_nowhere(hub, data, where):
    texts = {
        "plain": f"token {SECRET}\n",
        "escaped": json.dumps({"text": SECRET}).replace("ghp_", "\\u0067hp_"),
        "between two pieces": "a " * ((4 << 19) - 5) + SECRET,
        "as a name": json.dumps([{SECRET: 1}]),
    }
    (data / "train.jsonl").write_text(texts[where])
    refused = publish("dataset", data, "me/tasks", "--yes")
    assert refused.returncode == 5 and "train.jsonl" in refused.stderr and "hint: " in refused.stderr
    assert SECRET not in refused.stdout + refused.stderr and hub.tokens == set()


def test_links_are_not_followed(hub, data, tmp_path):
    (tmp_path / "outside.jsonl").write_text("mine")
    try:
        os.symlink(tmp_path / "outside.jsonl", data / "linked.jsonl")
    except OSError:
        pytest.skip("links need a privilege")
    assert publish("dataset", data, "me/tasks", "--yes").returncode == 0
    assert "linked.jsonl" not in hub.repositories["me/tasks"]["files"]


def test_nobody_answers_for_the_user(hub, data):
    asked = publish("dataset", data, "me/tasks")
    assert asked.returncode == 3 and "hint: add --yes" in asked.stderr and hub.tokens == set()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no terminals to write into")
@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 1), ("", 1)])
def test_on_a_terminal_it_asks(hub, data, monkeypatch, answer, code):
    monkeypatch.setattr(terminal, "PROGRAM", sys.executable)
    with terminal.Terminal(100, *command("dataset", data, "me/tasks")[1:]) as person:
        person.expect(r"publish it\? \[y/N\]")
        assert hub.tokens == set()
        person.type(answer + "\r")
        assert person.ended() == code
    assert bool(hub.repositories) == (code == 0)


@pytest.fixture
def private(tmp_path, monkeypatch):
    """Where private copies are made: nothing may be left there."""
    folder = tmp_path / "private"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="there are no terminals to write into")
@pytest.mark.parametrize("change", ["rewritten", "replaced", "a link", "gone"])
def test_what_was_checked_is_what_goes(hub, data, monkeypatch, private, change):
    """A file changes while the question waits for its answer."""
    monkeypatch.setattr(terminal, "PROGRAM", sys.executable)
    file = data / "train.jsonl"
    checked = file.read_bytes()
    with terminal.Terminal(100, *command("dataset", data, "me/tasks")[1:]) as person:
        person.expect(r"publish it\? \[y/N\]")
        (data / "late.jsonl").write_text(SECRET)
        if change == "rewritten":
            file.write_text(SECRET)
        else:
            file.unlink()
        if change == "replaced":
            file.write_text(SECRET)
        if change == "a link":
            os.symlink(data / ".env", file)
        person.type("y\r")
        person.expect("train.jsonl` has changed since")
        assert person.ended() == 0
    assert hub.repositories["me/tasks"]["files"] == {"train.jsonl": checked, "valid.jsonl": b""}


@pytest.mark.skipif(sys.platform == "win32", reason="there are no terminals to write into")
def test_leaving_at_the_question_leaves_nothing_behind(hub, data, monkeypatch, private):
    monkeypatch.setattr(terminal, "PROGRAM", sys.executable)
    with terminal.Terminal(100, *command("dataset", data, "me/tasks")[1:]) as person:
        person.expect(r"publish it\? \[y/N\]")
        (copy,) = private.iterdir()
        assert copy.stat().st_mode & 0o777 == 0o700
        person.type("\x03")
        assert person.ended() == 130
    assert hub.repositories == {}


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit there")
def test_no_room_for_the_copy_is_told(hub, data, private):
    import resource

    (data / "train.jsonl").write_text("x" * 100_000)
    full = publish("dataset", data, "me/tasks", "--yes", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000)))
    assert full.returncode == 1 and "TMPDIR" in full.stderr and "Traceback" not in full.stderr and hub.tokens == set()
    assert publish("dataset", data, "me/tasks", "--dry-run", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))).returncode == 0


def test_what_is_wrong_is_said(hub, data, tmp_path, monkeypatch):
    for words in ([], ["dataset"], ["space", data, "me/x"], ["dataset", tmp_path / "nosuch", "me/x"], ["dataset", data, "../x"], ["dataset", data, "x"], ["model", data, "me/x"]):
        wrong = publish(*words, "--yes")
        assert wrong.returncode == 2 and "hint: " in wrong.stderr and "Traceback" not in wrong.stderr, words
    hub.refuses = "the token may only read"
    refused = publish("dataset", data, "me/tasks", "--yes")
    assert refused.returncode == 4 and "hint: " in refused.stderr and "Traceback" not in refused.stderr and TOKEN not in refused.stderr
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    gone = publish("dataset", data, "me/tasks", "--yes")
    assert gone.returncode == 4 and "hint: " in gone.stderr and "Traceback" not in gone.stderr
    monkeypatch.delenv("HF_TOKEN")
    assert "HF_TOKEN" in publish("dataset", data, "me/tasks", "--yes").stderr
    monkeypatch.setenv("PYTHONPATH", "")
    missing = publish("dataset", data, "me/tasks", "--yes")
    assert missing.returncode == 4 and 'pip install "local-harness[hub]"' in missing.stderr
