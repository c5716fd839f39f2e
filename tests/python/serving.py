"""A server of the program under test, and raw ways to talk to it. Standard library only."""

import http.client
import json
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import threading

PROGRAM = shutil.which("harness", path=str(pathlib.Path(sys.executable).parent))


class Served:
    """`harness serve` on a free port; stops with the block it is used in."""

    def __init__(self, project, *words, program=None):
        # Looked up now: a test may have put another in its place.
        command = [program or PROGRAM, "serve", "--project", str(project), "--port", "0", *words]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8")
        first = self.process.stdout.readline()
        assert first.startswith("listening on http://127.0.0.1:"), first + self.process.stderr.read()
        self.port = int(first.rsplit(":", 1)[1])
        self.base = f"http://127.0.0.1:{self.port}"
        self.log = []
        # A pipe that nobody reads fills up.
        self._reader = threading.Thread(target=lambda: self.log.extend(self.process.stderr), daemon=True)
        self._reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop(signal.SIGTERM if hasattr(signal, "SIGTERM") else None)

    def stop(self, number):
        if self.process.poll() is None:
            self.process.send_signal(number) if number else self.process.terminate()
        code = self.process.wait(20)
        self._reader.join(5)
        return code

    def call(self, method, path, body=None, timeout=30, **headers):
        """One request on a connection of its own; the status, the headers and the JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            data = body if isinstance(body, (bytes, str, type(None))) else json.dumps(body)
            connection.request(method, path, data, {name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, dict(answer.getheaders()), json.loads(text) if text else None
        finally:
            connection.close()

    def connect(self, timeout=30):
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def raw(self, data, timeout=30, end=True):
        """Sends bytes, says that no more come, and returns everything that came back."""
        with self.connect(timeout) as client:
            try:
                client.sendall(data)
                if end:
                    client.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # Refused before all was sent: the answer is what counts.
            return drain(client)


def drain(client):
    parts = []
    while True:
        try:
            part = client.recv(65536)
        except ConnectionResetError:
            break
        if not part:
            break
        parts.append(part)
    return b"".join(parts)


def answers(data):
    """Splits raw bytes into answers: status, headers, body. Fails on anything that is no answer."""
    found = []
    while data:
        head, mark, rest = data.partition(b"\r\n\r\n")
        assert mark and head.startswith((b"HTTP/1.1 ", b"HTTP/1.0 ")), data[:200]
        lines = head.decode("ascii").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        length = int(headers.get("content-length", 0))
        found.append((int(lines[0].split()[1]), headers, rest[:length]))
        data = rest[length:]
    return found


def is_error(status, headers, body):
    """Every error has the one shape and a request id."""
    error = json.loads(body)["error"] if isinstance(body, bytes) else body["error"]
    assert set(error) == {"message", "type", "code", "param", "hint"}, error
    assert error["message"] and error["code"] and error["type"], error
    assert {name.lower() for name in headers} >= {"x-request-id"}
    assert 400 <= status < 500 or status in (502, 503), status
    return error


def tree(folder):
    """Every file below a folder with its bytes, mode and time of change."""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        about = path.lstat()
        found[str(path)] = (about.st_mode, about.st_mtime_ns, path.read_bytes() if path.is_file() else None)
    return found
