"""Requests that no client library sends: the server answers each in the one error shape, or not at all, and lives on."""

import json
import random
import socket
import threading
import time

import pytest

from serving import Served, answers, drain, is_error

HEAD = b"host: localhost\r\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    project = tmp_path_factory.mktemp("wire")
    (project / "a.py").write_text("def a():\n    return 1\n")
    with Served(project, "--allow-writes") as served:
        yield served
        assert served.process.poll() is None, "the server is gone"
        assert served.call("GET", "/health")[0] == 200


def post(path, body, *more):
    return b"POST %s HTTP/1.1\r\n%scontent-length: %d\r\n%sconnection: close\r\n\r\n%s" % (path.encode(), HEAD, len(body), b"".join(more), body)


def one(server, data, end=True):
    got = answers(server.raw(data, end=end))
    assert len(got) == 1, got
    return got[0]


@pytest.mark.parametrize("data", [
    b"\x00\x01\x02\x03\r\n\r\n", b"HELLO\r\n\r\n", b"GET\r\n\r\n", b"GET /health\r\n\r\n", b"GET /health HTTP/9.9\r\n\r\n", b"GET  /health HTTP/1.1\r\n\r\n",
    b"GET /health HTTP/1.1\r\nbroken\r\n\r\n", b"GET /health HTTP/1.1\r\n: x\r\n\r\n", b"GET /health HTTP/1.1\r\nhost : localhost\r\n\r\n",
    b"GET /he\x00lth HTTP/1.1\r\nhost: localhost\r\n\r\n", b"GET /health HTTP/1.1\r\nhost: localhost\r\nx: a\x00b\r\n\r\n", b"G\xffT / HTTP/1.1\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"POST /v1/run HTTP/1.1\r\n" + HEAD + b"content-length: -1\r\n\r\n", b"POST /v1/run HTTP/1.1\r\n" + HEAD + b"content-length: x\r\n\r\n",
    b"POST /v1/run HTTP/1.1\r\n" + HEAD + b"content-length: 2\r\ncontent-length: 3\r\n\r\n{}", b"POST /v1/run HTTP/1.1\r\n" + HEAD + b"content-length: 99999999999999999999\r\n\r\n",
    b"POST /v1/run HTTP/1.1\r\n" + HEAD + b"content-length: +2\r\n\r\n{}", b"POST /v1/run HTTP/1.1\r\n" + HEAD + b"transfer-encoding: gzip\r\n\r\n",
    b"POST /v1/brief HTTP/1.1\r\n" + HEAD + b"transfer-encoding: chunked\r\n\r\nnothex\r\n{}\r\n0\r\n\r\n",
], ids=lambda data: repr(data[:60]))
def test_what_is_no_request_is_a_400(server, data):
    status, headers, body = one(server, data)
    assert status in (400, 413, 501) and is_error(status, headers, body)


def test_no_host_or_two(server):
    for hosts in (b"", b"host: localhost\r\nhost: localhost\r\n", b"host:\r\n", b"host: \xff\r\n"):
        status, headers, body = one(server, b"GET /health HTTP/1.1\r\n" + hosts + b"connection: close\r\n\r\n")
        assert status in (400, 403) and is_error(status, headers, body), hosts


def test_another_server_is_not_meant(server):
    """A port or a host that is not this server's is refused wherever it stands."""
    here, other = f"127.0.0.1:{server.port}".encode(), f"127.0.0.1:{server.port + 1}".encode()
    for host in (b"127.0.0.1:1", b"localhost:80", other, b"[::1]:1", b"evil.example:%d" % server.port):
        status, headers, body = one(server, b"GET /health HTTP/1.1\r\nhost: " + host + b"\r\nconnection: close\r\n\r\n")
        assert status == 403 and is_error(status, headers, body)["code"] == "foreign_request", host
    for target in (b"http://evil.example/health", b"http://" + other + b"/health", b"https://" + here + b"/health", b"http://me@" + here + b"/health", b"evil.example:443"):
        method = b"CONNECT " if b"/" not in target else b"GET "
        status, headers, body = one(server, method + target + b" HTTP/1.1\r\nhost: " + here + b"\r\nconnection: close\r\n\r\n")
        assert status == 403 and is_error(status, headers, body)["code"] == "foreign_request", target
    for target in (b"/health", b"http://" + here + b"/health", b"http://localhost/health"):
        assert one(server, b"GET " + target + b" HTTP/1.1\r\nhost: " + here + b"\r\nconnection: close\r\n\r\n")[0] == 200, target


def test_a_client_of_http_2_is_told(server):
    status, headers, body = one(server, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")
    assert status == 400 and "not HTTP/1.1" in is_error(status, headers, body)["message"]


def test_sizes(server):
    many = b"".join(b"x-%d: y\r\n" % number for number in range(10_000))
    status, headers, body = one(server, b"GET /health HTTP/1.1\r\n" + HEAD + many + b"\r\n")
    assert status == 431 and is_error(status, headers, body)
    status, headers, body = one(server, b"GET /health HTTP/1.1\r\n" + HEAD + b"x: " + b"y" * 200_000 + b"\r\n\r\n")
    assert status == 431 and is_error(status, headers, body)
    status, headers, body = one(server, b"GET /" + b"y" * 200_000 + b" HTTP/1.1\r\n" + HEAD + b"\r\n")
    assert status in (414, 431) and is_error(status, headers, body)
    for length in (1024 * 1024 + 1, 5 * 1024 * 1024, 2**62):
        status, headers, body = one(server, b"POST /v1/brief HTTP/1.1\r\n%scontent-length: %d\r\n\r\n" % (HEAD, length), end=False)
        assert status == 413 and is_error(status, headers, body), length
    chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
    status, headers, body = one(server, b"POST /v1/brief HTTP/1.1\r\n" + HEAD + b"transfer-encoding: chunked\r\n\r\n" + chunk * 20)
    assert status == 413 and is_error(status, headers, body)
    exact = b'{"scope": null' + b" " * (1024 * 1024 - 15) + b"}"
    assert len(exact) == 1024 * 1024 and one(server, post("/v1/brief", exact))[0] == 200


@pytest.mark.parametrize("body", [
    b"", b" \n"], ids=repr)
def test_an_empty_body_is_an_empty_object(server, body):
    assert one(server, post("/v1/brief", body))[0] == 200


@pytest.mark.parametrize("body", [
    b"{", b"[]", b"null", b"1", b'"x"', b"{} {}", b"{,}", b'{"scope": }', b"{'scope': 1}", b'{"scope": "\xff"}', b'\xef\xbb\xbf{}', b'{"scope": "\\ud800"}', b"\xff\xfe{\x00}\x00",
    b'{"scope": ' + b"[" * 200_000, b"[" * 500_000, b'{"a":' * 50_000, b'{"scope": "a", "scope": "b"}', b'{"scope": 1e999}', b'{"scope": NaN}', b"{" + b'"x":1,' * 100_000 + b"}",
    b'{"scope": {"scope": {}}}', b'{"": 1}', b'{"scope\\u0000": 1}'], ids=lambda body: repr(body[:30]))
def test_bodies_that_are_no_request(server, body):
    for path in ("/v1/brief", "/v1/layout", "/v1/route", "/v1/ask", "/v1/run", "/v1/chat/completions"):
        status, headers, answer = one(server, post(path, body))
        assert status == 400 and is_error(status, headers, answer), path


def test_length_and_chunks_together_are_one_request(server):
    data = b"POST /v1/brief HTTP/1.1\r\n" + HEAD + b"content-length: 5\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
    got = answers(server.raw(data))
    assert len(got) == 1 and got[0][0] in (200, 400)


def test_a_truncated_body(server):
    data = b"POST /v1/brief HTTP/1.1\r\n" + HEAD + b"content-length: 50\r\n\r\n{}"
    for status, headers, body in answers(server.raw(data)):
        assert status == 400 and is_error(status, headers, body)


def test_pipelining_and_keep_alive(server):
    request = b"GET /health HTTP/1.1\r\n" + HEAD + b"\r\n"
    brief = b"POST /v1/brief HTTP/1.1\r\n" + HEAD + b"content-length: 2\r\n\r\n{}"
    got = answers(server.raw((request + brief) * 20))
    assert [status for status, _, _ in got] == [200] * 40
    assert len({headers["x-request-id"] for _, headers, _ in got}) == 40
    # A bad one in the middle ends the connection, after the good ones before it are answered.
    got = answers(server.raw(request * 3 + b"nonsense\r\n\r\n" + request))
    assert [status for status, _, _ in got] == [200, 200, 200, 400] and is_error(*got[-1])
    with server.connect() as client:
        for _ in range(5):
            client.sendall(request)
            assert client.recv(65536).startswith(b"HTTP/1.1 200")
            time.sleep(0.02)


def test_http_1_0_and_expect(server):
    assert one(server, b"GET /health HTTP/1.0\r\n" + HEAD + b"\r\n")[0] == 200
    with server.connect() as client:
        client.sendall(b"POST /v1/brief HTTP/1.1\r\n" + HEAD + b"content-length: 2\r\nexpect: 100-continue\r\nconnection: close\r\n\r\n")
        assert client.recv(4096).startswith(b"HTTP/1.1 100")
        client.sendall(b"{}")
        assert drain(client).startswith(b"HTTP/1.1 200")


def test_slow_clients_are_told_and_do_not_hold_others_up(server):
    ended = {}

    def slow(name, first, drip):
        with server.connect(40) as client:
            client.sendall(first)
            began = time.monotonic()
            client.settimeout(0.5)
            data = b""
            while time.monotonic() - began < 30:
                try:
                    part = client.recv(65536)
                    if not part:
                        break
                    data += part
                except socket.timeout:
                    try:
                        client.sendall(drip)
                    except OSError:
                        break
                except OSError:
                    break
            ended[name] = data

    threads = [threading.Thread(target=slow, args=words) for words in (
        ("headers", b"GET /health HTTP/1.1\r\nhost: local", b"h"),
        ("body", b"POST /v1/brief HTTP/1.1\r\n" + HEAD + b"content-length: 5000\r\n\r\n{", b" "),
        ("nothing", b"", b""),
    )]
    for thread in threads:
        thread.start()
    for _ in range(20):
        assert server.call("GET", "/health", timeout=10)[0] == 200
        time.sleep(0.1)
    for thread in threads:
        thread.join(40)
    for name in ("headers", "body", "nothing"):
        (status, headers, body), = answers(ended[name])
        assert status == 408 and is_error(status, headers, body), name


def test_half_closed_clients_are_answered(server):
    got = answers(server.raw(b"GET /health HTTP/1.1\r\n" + HEAD + b"\r\n", end=True))
    assert got[0][0] == 200
    got = answers(server.raw(post("/v1/brief", b"{}"), end=True))
    assert got[0][0] == 200


def test_clients_that_vanish_at_every_moment(server):
    whole = post("/v1/layout", b'{"scope": null}')
    for cut in range(0, len(whole), 7):
        with server.connect() as client:
            client.sendall(whole[:cut])
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
    assert server.call("GET", "/health")[0] == 200


def test_many_connections_at_once(server):
    idle = [server.connect() for _ in range(300)]
    assert server.call("GET", "/health")[0] == 200
    for client in idle:
        client.close()


def test_random_requests(server):
    """Noise around real requests; the seed is fixed, so that a failure comes again."""
    source = random.Random(20_261_115)
    good = [post(path, json.dumps(body).encode()) for path, body in (
        ("/v1/brief", {"scope": "a"}), ("/v1/route", {"task": "x"}), ("/v1/chat/completions", {"messages": [{"role": "user", "content": "what?"}], "stream": True}))]
    for _ in range(300):
        data = bytearray(source.choice(good))
        for _ in range(source.randint(1, 6)):
            where = source.randrange(len(data))
            change = source.randrange(4)
            if change == 0:
                data[where] = source.randrange(256)
            elif change == 1:
                del data[where:where + source.randint(1, 9)]
            elif change == 2:
                data[where:where] = source.randbytes(source.randint(1, 9))
            else:
                data[where:where] = data[:source.randrange(40)]
        for status, headers, body in answers(server.raw(bytes(data))):
            assert status < 500, (status, bytes(data))
            if status >= 400 and body:
                is_error(status, headers, body)
