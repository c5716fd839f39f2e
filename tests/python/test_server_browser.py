"""A real browser against the server: a page of another origin can neither read nor cause a write.

Headless Chromium where there is one; the header rules themselves are decided by raw sockets in test_server.py."""

import http.server
import re
import shutil
import subprocess
import threading

import pytest

from conftest import FIX, TASK
from serving import Served, tree

BROWSER = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium on the path (Debian: chromium)")

ATTACK = """<!doctype html><title>working</title><pre id=out></pre>
<iframe name=sink style="display:none"></iframe>
<form id=form method=post enctype="text/plain" target=sink action="BASE/v1/run"><input name='{"task": "TASK", "x":"' value='"}'></form>
<img src="BASE/health"><link rel=stylesheet href="BASE/">
<script>
const out = [], body = JSON.stringify({task: "TASK"});
const note = (name, value) => out.push(name + ": " + value);
const late = () => new Promise(done => setTimeout(() => done("blocked"), 1500));
const attempt = async (name, work) => { try { note(name, await Promise.race([work(), late()])); } catch (error) { note(name, "blocked"); } };
(async () => {
  await attempt("read", async () => (await (await fetch("BASE/health")).text()).slice(0, 40));
  await attempt("read-no-cors", async () => "type " + (await fetch("BASE/health", {mode: "no-cors"})).type + " length " + (await (await fetch("BASE/health", {mode: "no-cors"})).text()).length);
  await attempt("post-json", async () => (await fetch("BASE/v1/run", {method: "POST", headers: {"content-type": "application/json"}, body})).status);
  await attempt("post-no-cors", async () => (await fetch("BASE/v1/run", {method: "POST", mode: "no-cors", headers: {"content-type": "text/plain"}, body})).status);
  await attempt("beacon", async () => navigator.sendBeacon("BASE/v1/run", body));
  await attempt("xhr", () => new Promise((done, fail) => { const x = new XMLHttpRequest(); x.open("POST", "BASE/v1/run"); x.onload = () => done(x.status); x.onerror = fail; x.send(body); }));
  await attempt("frame", () => new Promise(done => { const f = document.createElement("iframe"); f.src = "BASE/"; f.onload = () => { try { done(f.contentDocument ? "read " + f.contentDocument.title : "blocked"); } catch { done("blocked"); } }; document.body.append(f); }));
  document.getElementById("form").submit();
  await new Promise(done => setTimeout(done, 700));
  document.getElementById("out").textContent = out.join("\\n");
  document.title = "done";
})();
</script>"""


def dump(address, *words, profile):
    """The page after its scripts ran."""
    command = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", f"--user-data-dir={profile}",
               "--disable-background-networking", "--disable-component-update", "--timeout=20000", "--virtual-time-budget=15000", *words, "--dump-dom", address]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if shown.returncode != 0 and not shown.stdout:
        pytest.skip(f"the browser does not start here: {shown.stderr[-200:]}")
    return shown.stdout


@pytest.fixture
def evil(tmp_path):
    """A page of another origin: another port of this machine, or another name for it."""
    pages = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            page = pages.get(self.path, "").encode()
            self.send_response(200 if page else 404)
            self.send_header("content-type", "text/html")
            self.send_header("content-length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port, pages
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("origin, target", [("127.0.0.1", "127.0.0.1"), ("localhost", "localhost"), ("evil.test", "127.0.0.1"), ("evil.test", "evil.test")],
                         ids=["another port", "another port by name", "another site", "a rebound name"])
def test_a_page_of_another_origin_gets_nothing(project, engine, evil, tmp_path, origin, target):
    engine(FIX)
    before = tree(project)
    port, pages = evil
    with Served(project, "--allow-writes") as server:
        pages["/"] = ATTACK.replace("BASE", f"http://{target}:{server.port}").replace("TASK", TASK)
        shown = dump(f"http://{origin}:{port}/", "--host-resolver-rules=MAP evil.test 127.0.0.1", profile=tmp_path / "profile")
        found = dict(line.split(": ", 1) for line in re.search(r'<pre id="out">(.*?)</pre>', shown, re.S).group(1).splitlines())
        assert set(found) == {"read", "read-no-cors", "post-json", "post-no-cors", "beacon", "xhr", "frame"}, shown
        assert found["read"] == found["post-json"] == found["xhr"] == "blocked", found
        assert found["read-no-cors"] in ("blocked", "type opaque length 0"), found
        assert found["post-no-cors"] in ("blocked", "0"), found
        assert found["frame"] == "blocked", found
        health = server.call("GET", "/health")[2]
        assert health["runs"] == {"running": 0, "waiting": 0}
    asked = [line for line in server.log if re.search(r" (GET|POST|OPTIONS|HEAD) ", line)]
    reached = [line for line in asked[:-1] if not re.search(r" 403 \d", line)]
    # A browser may stop such requests by itself; those that it lets through are refused.
    assert len(asked) > (1 if origin == "evil.test" else 4) and not reached, asked
    assert tree(project) == before


def test_the_page_for_people(project, engine, tmp_path):
    engine(FIX)
    with Served(project, "--allow-writes") as server:
        assert server.call("POST", "/v1/run", {"task": TASK + ' <script>document.title="owned"</script><img src=x onerror=alert(1)>'}, timeout=120)[0] == 200
        shown = dump(f"{server.base}/", profile=tmp_path / "profile")
        assert "<title>harness</title>" in shown and str(project) in shown and "file changes are allowed" in shown
        assert "/v1/chat/completions" in shown and "return total * (100 - percent) / 100" in shown
        assert "owned" not in re.search(r"<title>(.*?)</title>", shown).group(1) and shown.count("<script") == 1


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_does_not_scroll_sideways(project, engine, tmp_path, width):
    engine(FIX)
    with Served(project, "--allow-writes") as server:
        assert server.call("POST", "/v1/run", {"task": TASK + " and " + "long" * 60}, timeout=120)[0] == 200
        page = dump(f"{server.base}/", profile=tmp_path / "profile")
    # The same page in a frame of that width, where a script may measure it.
    page = re.sub(r"<script>.*?</script>", "", page, flags=re.S)
    frame = tmp_path / "frame.html"
    measure = "document.title = frames[0].document.documentElement.scrollWidth"
    frame.write_text(f'<title>working</title><iframe srcdoc="{page.replace("&", "&amp;").replace(chr(34), "&quot;")}" width={width} height=800 onload="{measure}"></iframe>')
    shown = dump(frame.as_uri(), profile=tmp_path / "other")
    assert int(re.search(r"<title>(\d+)</title>", shown).group(1)) <= width
