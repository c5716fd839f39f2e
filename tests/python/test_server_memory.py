"""A crowd of requests on a machine with little room: answers or refusals, and a server that lives on."""

import collections
import shutil
import sys
import threading

import pytest

import serving
from serving import Served, is_error

pytestmark = pytest.mark.skipif(sys.platform != "linux" or not shutil.which("prlimit"), reason="prlimit is not here")

LIMIT = 4 * 1024**3
REQUESTS = [("/v1/brief", {}), ("/v1/layout", {}), ("/v1/route", {"task": "fix discount"}), ("/v1/ask", {"task": "what does discount do?"})]


def test_two_hundred_requests_at_once_in_four_gigabytes_of_addresses(project, tmp_path, monkeypatch):
    wrapper = tmp_path / "harness"
    wrapper.write_text(f'#!/bin/sh\nexec prlimit --as={LIMIT} "{serving.PROGRAM}" "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setattr(serving, "PROGRAM", str(wrapper))
    got = []
    with Served(project) as server:
        def call(number):
            path, body = REQUESTS[number % len(REQUESTS)]
            got.append(server.call("POST", path, body, timeout=120))

        for _ in range(2):
            threads = [threading.Thread(target=call, args=(number,)) for number in range(200)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(180)
        assert server.process.poll() is None, "the server is gone"
        assert server.call("GET", "/health")[0] == 200
    statuses = collections.Counter(status for status, _, _ in got)
    assert len(got) == 400 and set(statuses) <= {200, 429, 502, 503}, statuses
    assert statuses[200] >= 300, statuses
    for status, headers, answer in got:
        assert status == 200 or is_error(status, headers, answer)
