"""The server as docs/reference/http.md describes it, through real sockets."""

import http.client
import json
import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from conftest import FIX, RIGHT, TASK, WRONG, WRONG_DRAFT, SilentServer
from scripted import Wait
from serving import PROGRAM, Served, answers, is_error, tree

ROUTES = {"/health": "GET", "/v1/models": "GET", "/v1/openapi.json": "GET", "/": "GET", "/v1/brief": "POST", "/v1/layout": "POST",
          "/v1/route": "POST", "/v1/ask": "POST", "/v1/run": "POST", "/v1/chat/completions": "POST",
          "/v1/runs": "GET", "/v1/undo": "POST", "/v1/apply": "POST", "/v1/stream/models": "GET", "/v1/stream/chat/completions": "POST"}


def chat(*messages, **more):
    return {"messages": [{"role": role, "content": content} for role, content in messages], **more}


def conforms(schema, value, document, where="$"):
    """The part of JSON Schema that our document uses."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return conforms(document["components"]["schemas"][name], value, document, where)
    if "const" in schema:
        assert value == schema["const"], where
    if "enum" in schema:
        assert value in schema["enum"], (where, value)
    if "anyOf" in schema:
        return any_of(schema["anyOf"], value, document, where)
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    python = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list, "object": dict, "null": type(None)}
    if kinds:
        fits = [kind for kind in kinds if isinstance(value, python[kind]) and not (isinstance(value, bool) and kind in ("integer", "number"))]
        assert fits, (where, kinds, value)
    if isinstance(value, int) and "minimum" in schema:
        assert value >= schema["minimum"], where
    if isinstance(value, int) and "maximum" in schema:
        assert value <= schema["maximum"], where
    if isinstance(value, str) and "pattern" in schema:
        assert re.search(schema["pattern"], value), where
    if isinstance(value, dict):
        for name in schema.get("required", []):
            assert name in value, f"{where}.{name} is missing"
        for name, part in schema.get("properties", {}).items():
            if name in value:
                conforms(part, value[name], document, f"{where}.{name}")
        if schema.get("additionalProperties") is False:
            assert set(value) <= set(schema["properties"]), where
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        for index, item in enumerate(value):
            conforms(schema["items"], item, document, f"{where}[{index}]")


def any_of(schemas, value, document, where):
    for schema in schemas:
        try:
            return conforms(schema, value, document, where)
        except AssertionError:
            continue
    raise AssertionError(where)


def test_every_reading_route_answers(project):
    with Served(project) as server:
        status, headers, health = server.call("GET", "/health")
        assert status == 200 and headers["x-request-id"]
        assert (health["ok"], health["status"], health["allow_writes"], health["engine"], health["model"]) == (True, "ok", False, "local", "qwen3:8b")
        assert {route.split()[1]: route.split()[0] for route in health["routes"]} == ROUTES
        assert health["runs"] == {"running": 0, "waiting": 0}
        for path, name in (("/v1/brief", "brief"), ("/v1/layout", "layout")):
            for body in ({}, None, b"", {"scope": "shop"}, {"scope": None}):
                status, _, answer = server.call("POST", path, body)
                assert status == 200 and isinstance(answer[name], str) and isinstance(answer["data"], dict), (path, body)
        status, _, route = server.call("POST", "/v1/route", {"task": TASK})
        assert (status, route["data"]["writes"], route["data"]["kind"]) == (200, True, "fix")
        assert server.call("POST", "/v1/brief", {"scope": "shop"}, Content_Type="text/plain")[0] == 200


def test_the_json_is_that_of_the_command_line(project):
    with Served(project) as server:
        for name, words, body in (("brief", [], {}), ("layout", [], {}), ("route", [TASK], {"task": TASK})):
            printed = subprocess.run([PROGRAM, name, str(project), *words, "--json"], capture_output=True, timeout=60)
            assert server.call("POST", f"/v1/{name}", body)[2]["data"] == json.loads(printed.stdout)


def test_models_are_those_of_the_engine(project, engine):
    with Served(project, "--model", "other:1b") as server:
        assert [model["id"] for model in server.call("GET", "/v1/models")[2]["data"]] == ["other:1b"]
    engine("x")
    with Served(project, "--model", "other:1b") as server:
        listed = server.call("GET", "/v1/models")[2]
        assert listed["object"] == "list"
        assert [model["id"] for model in listed["data"]] == ["other:1b", "qwen3:8b"]
        assert all(set(model) == {"id", "object", "created", "owned_by"} for model in listed["data"])


def test_an_engine_that_hangs_does_not_hold_the_list_up(project, monkeypatch):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{silent.getsockname()[1]}")
        with Served(project) as server:
            # The engine itself would be waited for far longer than a call of ours waits.
            assert len(server.call("GET", "/v1/models")[2]["data"]) == 1


def test_the_description_is_true(project, engine):
    """Calls every route with what the document allows, and with what it forbids."""
    engine(FIX, "It is a shop.")
    with Served(project, "--allow-writes") as server:
        run = server.call("POST", "/v1/run", {"task": TASK}, timeout=120)[2]["run_id"]
        dry = server.call("POST", "/v1/run", {"task": "rename discount to rebate", "dry_run": True})[2]["run_id"]
        document = server.call("GET", "/v1/openapi.json")[2]
        assert document["openapi"] == "3.1.0"
        assert {path: next(iter(methods)).upper() for path, methods in document["paths"].items()} == ROUTES
        good = {"run": run, "task": "what does discount do?", "scope": "shop", "model": "qwen3:8b", "skills": [], "steps": 2, "max_tokens": 50,
                "dry_run": True, "messages": [{"role": "user", "content": "what does discount do?"}], "max_completion_tokens": 50, "stream": False}
        wrong = {"string": [1, True, [], {}], "integer": ["1", 0, -1, 1.5, True, 2**32, []], "boolean": ["true", 1, []], "array": ["x", 1, {}, [1]]}
        for path, methods in document["paths"].items():
            (method, operation), = methods.items()
            good["run"] = dry if path == "/v1/apply" else run
            answered = operation["responses"]["200"]["content"]
            if "requestBody" not in operation:
                if path != "/":
                    status, _, answer = server.call(method.upper(), path)
                    assert status == 200
                    conforms(answered["application/json"]["schema"], answer, document)
                continue
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            names, required = list(schema["properties"]), schema["required"]
            least = {name: good[name] for name in required}
            for body in [least, {name: good[name] for name in names}] + [{**least, name: good[name]} for name in names]:
                conforms(schema, body, document)
                status, _, answer = server.call("POST", path, body)
                assert status == 200, (path, body, answer)
                conforms(answered["application/json"]["schema"], answer, document)
            for name in names:
                kinds = schema["properties"][name]["type"]
                kind = kinds if isinstance(kinds, str) else kinds[0]
                for value in wrong[kind]:
                    with pytest.raises(AssertionError):
                        conforms(schema, {**least, name: value}, document)
                    status, headers, answer = server.call("POST", path, {**least, name: value})
                    assert status == 400 and is_error(status, headers, answer)["param"] == name, (path, name, value, answer)
                    assert str(status) in operation["responses"]
            for name in required:
                status, headers, answer = server.call("POST", path, {key: value for key, value in least.items() if key != name})
                assert status == 400 and is_error(status, headers, answer)["param"] == name
            status, headers, answer = server.call("POST", path, {**least, "surprise": 1})
            if schema["additionalProperties"]:
                assert status == 200
            else:
                assert status == 400 and is_error(status, headers, answer)["param"] == "surprise"


def test_scopes_that_cannot_be_used(project):
    with Served(project) as server:
        for scope in ("nosuch", "../", "/etc", "shop/pricing.py", "shop/../.."):
            for path, body in (("/v1/brief", {}), ("/v1/ask", {"task": "what?"})):
                status, headers, answer = server.call("POST", path, {**body, "scope": scope})
                assert status == 422 and is_error(status, headers, answer)["param"] == "scope", (scope, answer)


def test_a_run_and_its_undo(project, engine):
    engine(FIX)
    with Served(project, "--allow-writes") as server:
        before = (project / "shop/pricing.py").read_text()
        status, _, result = server.call("POST", "/v1/run", {"task": TASK, "dry_run": True})
        assert status == 200 and result["writes"] == [] and "+    return total * (100 - percent) / 100" in result["diff"]
        assert (project / "shop/pricing.py").read_text() == before
        status, _, result = server.call("POST", "/v1/run", {"task": TASK}, timeout=120)
        assert (status, result["ok"], result["stopped"], result["writes"]) == (200, True, "done", ["shop/pricing.py"]), result
        assert (project / "shop/pricing.py").read_text() == RIGHT
        page = raw_page(server)
        assert "return total * (100 - percent) / 100" in page and "done" in page
    assert (project / "shop/pricing.py.bak").read_text() == before
    undone = subprocess.run([PROGRAM, "undo", result["run_id"], "--project", str(project)], capture_output=True, text=True, timeout=60)
    assert undone.returncode == 0, undone.stderr
    assert (project / "shop/pricing.py").read_text() == before and not (project / "shop/pricing.py.bak").exists()


def raw_page(server):
    (status, headers, body), = answers(server.raw(b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"))
    assert status == 200 and headers["content-type"] == "text/html; charset=utf-8"
    return body.decode()


def test_the_engine_and_the_check_have_their_statuses(project, engine, monkeypatch):
    with Served(project, "--allow-writes") as server:
        for path, body in (("/v1/ask", {"task": "what is this?"}), ("/v1/run", {"task": TASK}), ("/v1/chat/completions", chat(("user", "what is this?")))):
            status, headers, answer = server.call("POST", path, body, timeout=60)
            assert status == 502 and is_error(status, headers, answer)["code"] == "engine_failed"
            assert answer["harness"]["stopped"] == "engine"
    monkeypatch.setenv("HARNESS_BASE_URL", "http://192.0.2.1/v1")
    monkeypatch.setenv("HARNESS_API_KEY", "k")
    key = "AKIA" + "Q3EGRD5MXZ7WTB2N"
    with Served(project, "--engine", "remote") as server:
        status, headers, answer = server.call("POST", "/v1/ask", {"task": f"what is {key} for?"}, timeout=60)
        assert status == 403 and is_error(status, headers, answer)["code"] == "send_refused"
        assert key not in json.dumps(answer)


def test_writes_are_refused_first_on_a_read_only_server(project):
    with Served(project) as server:
        for path, body in (("/v1/run", {"task": TASK}), ("/v1/run", {"task": TASK, "dry_run": True}), ("/v1/run", b"no json"),
                           ("/v1/chat/completions", chat(("user", TASK))), ("/v1/chat/completions", chat(("user", "clean this up")))):
            status, headers, answer = server.call("POST", path, body)
            error = is_error(status, headers, answer)
            assert (status, error["code"]) == (403, "writes_disabled") and "--allow-writes" in error["message"], (path, body)


def test_a_vague_task_is_answered_with_the_question(project):
    with Served(project, "--allow-writes") as server:
        status, _, answer = server.call("POST", "/v1/chat/completions", chat(("user", "clean this up")))
        assert status == 200
        assert answer["choices"][0]["message"]["content"] == answer["harness"]["summary"]
        assert (answer["harness"]["stopped"], answer["choices"][0]["finish_reason"]) == ("question", "stop")
        assert answer["usage"]["total_tokens"] == 0


def test_an_answer_belongs_to_the_question(project, engine):
    script = engine(FIX)
    with Served(project, "--allow-writes") as server:
        said = [("user", "clean this up")]
        for words in ("1", "shop/pricing.py", "discount in shop/pricing.py"):
            _, _, asked = server.call("POST", "/v1/chat/completions", chat(*said))
            assert asked["harness"]["stopped"] == "question" and not script.requests
            question = asked["choices"][0]["message"]["content"]
            status, _, answer = server.call("POST", "/v1/chat/completions", chat(*said, ("assistant", question), ("user", words)), timeout=120)
            assert (status, answer["harness"]["stopped"], answer["harness"]["writes"]) == (200, "done", ["shop/pricing.py"]), (words, answer)
            script.requests.clear()
            # A change is shown, and can be taken back in the same words as on the command line or here.
            content = answer["choices"][0]["message"]["content"]
            assert "```diff\n--- a/shop/pricing.py" in content and f"harness undo {answer['harness']['run_id']}" in content
            status, _, undone = server.call("POST", "/v1/chat/completions", chat(*said, ("assistant", content), ("user", "undo that, please")))
            assert status == 200 and "took back" in undone["choices"][0]["message"]["content"]
            assert (project / "shop/pricing.py").read_text() == WRONG and not script.requests


def test_thanks_start_nothing_and_a_read_only_server_undoes_nothing(project):
    with Served(project) as server:
        for words in ("hi", "thanks!"):
            status, _, answer = server.call("POST", "/v1/chat/completions", chat(("user", words)))
            assert (status, answer["harness"]["stopped"], answer["harness"]["run_id"]) == (200, "done", "")
        status, headers, answer = server.call("POST", "/v1/chat/completions", chat(("user", "undo that")))
        assert status == 403 and is_error(status, headers, answer)["code"] == "writes_disabled"
    with Served(project, "--allow-writes") as server:
        status, _, answer = server.call("POST", "/v1/chat/completions", chat(("user", "undo that")))
        assert status == 200 and not answer["harness"]["ok"] and "nothing was taken back" in answer["choices"][0]["message"]["content"]


def test_it_is_what_was_spoken_of(project, engine):
    script = engine("It takes percent off the total.")
    with Served(project) as server:
        said = [("user", "what does discount in shop/pricing.py do?"), ("assistant", "It takes percent off."), ("user", "where is it used?")]
        status, _, answer = server.call("POST", "/v1/chat/completions", chat(*said), timeout=60)
        assert status == 200, answer
        assert "where is `discount` used?" in json.dumps(script.requests[-1])


def test_chat_as_editors_speak_it(project, engine):
    script = engine("It takes percent off the total.")
    with Served(project) as server:
        parts = [{"type": "text", "text": "what does"}, {"type": "image_url", "image_url": {"url": "x"}}, {"type": "text", "text": "discount do?"}]
        messages = [("system", "Answer like a pirate."), ("user", "hello"), ("assistant", "Ahoy!"), ("user", parts)]
        status, _, answer = server.call("POST", "/v1/chat/completions", chat(*messages, model="gpt-4o", tools=[{"type": "function"}], temperature=0.2, user="me"), timeout=60)
        assert status == 200, answer
        assert (answer["object"], answer["model"], answer["choices"][0]["message"]["role"]) == ("chat.completion", "gpt-4o", "assistant")
        assert answer["choices"][0]["message"]["content"] == "It takes percent off the total."
        usage = answer["usage"]
        assert usage["prompt_tokens"] > 0 and usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
        notes = " ".join(answer["notes"])
        assert "`tools`" in notes and "not text" in notes and "gpt-4o" in notes
        sent = json.dumps(script.requests[-1])
        assert "pirate" in sent and "Ahoy!" in sent and script.requests[-1]["model"] == "qwen3:8b"
        assert "Question: what does\\ndiscount do?" in sent
        for field, value in (("stream", True), ("stream", "no"), ("max_tokens", 0), ("model", 3)):
            status, headers, answer = server.call("POST", "/v1/chat/completions", chat(("user", "what?"), **{field: value}))
            error = is_error(status, headers, answer)
            assert status == 400 and error["param"] == field, answer
            assert field != "stream" or value is not True or "false" in error["hint"]
        for broken in ([], [{}], [{"role": "system", "content": "x"}], [{"role": "user"}], [{"role": "user", "content": " "}], [{"role": "user", "content": []}], [1], None, {}):
            status, headers, answer = server.call("POST", "/v1/chat/completions", {"messages": broken})
            assert status == 400 and is_error(status, headers, answer)["param"] == "messages", broken


def test_openai_s_own_client(project, engine):
    openai = pytest.importorskip("openai", reason="the official client is not installed here")
    engine("It takes percent off the total.")
    with Served(project) as server:
        client = openai.OpenAI(base_url=f"{server.base}/v1", api_key="any", max_retries=0)
        assert client.models.list().data[0].id == "qwen3:8b"
        done = client.chat.completions.create(model="qwen3:8b", messages=[{"role": "user", "content": "what does discount do?"}])
        assert done.choices[0].message.content == "It takes percent off the total."
        assert done.choices[0].finish_reason == "stop" and done.usage.total_tokens > 0
        with pytest.raises(openai.BadRequestError, match="stream"):
            list(client.chat.completions.create(model="x", messages=[{"role": "user", "content": "what?"}], stream=True))
        with pytest.raises(openai.PermissionDeniedError, match="--allow-writes"):
            client.chat.completions.create(model="x", messages=[{"role": "user", "content": TASK}])
    with Served(project, "--token", "s3cret") as server:
        with pytest.raises(openai.AuthenticationError):
            openai.OpenAI(base_url=f"{server.base}/v1", api_key="other", max_retries=0).models.list()
        assert openai.OpenAI(base_url=f"{server.base}/v1", api_key="s3cret", max_retries=0).models.list().data


def test_openai_s_own_client_streams(project, engine):
    openai = pytest.importorskip("openai", reason="the official client is not installed here")
    model = engine("It takes percent off the total.", FIX)
    asked = [{"role": "user", "content": "what does discount do?"}]
    with Served(project) as server:
        client = openai.OpenAI(base_url=f"{server.base}/v1/stream", api_key="any", max_retries=0)
        assert client.models.list().data[0].id == "qwen3:8b"
        chunks = list(client.chat.completions.create(model="qwen3:8b", messages=asked, stream=True, stream_options={"include_usage": True}))
        deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
        assert deltas[0].role == "assistant"
        assert "".join(delta.content or "" for delta in deltas) == "It takes percent off the total."
        progress = "".join(getattr(delta, "reasoning_content", None) or "" for delta in deltas)
        assert "asking qwen3:8b" in progress and progress.endswith("\n")
        assert chunks[-2].choices[0].finish_reason == "stop" and chunks[-2].harness["ok"]
        assert chunks[-1].usage.total_tokens > 0 and not chunks[-1].choices
        assert len({chunk.id for chunk in chunks}) == 1
        # In one piece too, as a client may ask.
        done = client.chat.completions.create(model="qwen3:8b", messages=[{"role": "user", "content": "thanks!"}])
        assert done.choices[0].message.content
        with pytest.raises(openai.PermissionDeniedError, match="--allow-writes"):
            list(client.chat.completions.create(model="x", messages=[{"role": "user", "content": TASK}], stream=True))
        model.close()
        with pytest.raises(openai.APIError, match="127.0.0.1"):
            list(client.chat.completions.create(model="x", messages=[{"role": "user", "content": "explain discount to me"}], stream=True))


def test_a_client_that_leaves_a_stream_stops_its_run(project, silent_engine):
    body = json.dumps({"messages": [{"role": "user", "content": TASK}], "stream": True})
    with Served(project, "--allow-writes") as server:
        client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        client.request("POST", "/v1/stream/chat/completions", body)
        answer = client.getresponse()
        assert answer.status == 200 and answer.getheader("content-type") == "text/event-stream"
        # What is going on is told while the engine still says nothing.
        assert silent_engine.asked.wait(60)
        assert b'"content":""' in answer.read1(100_000)
        assert b"reasoning_content" in answer.read1(100_000)
        assert server.call("GET", "/health")[2]["runs"]["running"] == 1
        answer.close()
        client.close()
        until = time.monotonic() + 15
        while server.call("GET", "/health")[2]["runs"]["running"] and time.monotonic() < until:
            time.sleep(0.05)
        assert not server.call("GET", "/health")[2]["runs"]["running"]
    assert (project / "shop" / "pricing.py").read_text(encoding="utf-8") == WRONG


def test_a_token_is_required_when_there_is_one(project, monkeypatch):
    monkeypatch.setenv("HARNESS_TOKEN", "s3cret")
    with Served(project) as server:
        for given in (None, "Bearer", "Bearer s3cre", "Bearer s3cretx", "Basic s3cret", "Bearer S3CRET", "s3cret"):
            status, headers, answer = server.call("GET", "/health", **({"Authorization": given} if given else {}))
            assert status == 401 and is_error(status, headers, answer) and headers["www-authenticate"] == "Bearer", given
        assert server.call("GET", "/health", Authorization="Bearer s3cret")[0] == 200


@pytest.mark.parametrize("headers", [
    {"Host": "evil.example"}, {"Host": "evil.example:8090"}, {"Host": "127.0.0.1.evil.example"}, {"Host": "localhost.evil.example"}, {"Host": "0.0.0.0"},
    {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": "http://localhost:1"}, {"Origin": "http://127.0.0.1"}, {"Origin": "vscode-webview://x"},
    {"Origin": "http://127.0.0.1@evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Sec-Fetch-Site": "surprise"},
], ids=str)
def test_what_a_page_can_cause_is_refused(project, headers):
    with Served(project, "--allow-writes") as server:
        for method, path in (("GET", "/health"), ("POST", "/v1/run"), ("OPTIONS", "/v1/run"), ("GET", "/"), ("GET", "/nosuch")):
            status, answered, answer = server.call(method, path, b"{}", **headers)
            assert (status, is_error(status, answered, answer)["code"]) == (403, "foreign_request"), (method, path)
            assert not [name for name in answered if name.lower().startswith("access-control")]


def test_what_is_at_home_is_welcome(project):
    with Served(project) as server:
        for headers in ({"Host": "localhost"}, {"Host": f"LOCALHOST:{server.port}"}, {"Host": f"[::1]:{server.port}"}, {"Origin": server.base},
                        {"Origin": f"http://localhost:{server.port}"}, {"Sec-Fetch-Site": "none"}, {"Sec-Fetch-Site": "same-origin"}):
            assert server.call("GET", "/health", **headers)[0] == 200, headers


def test_methods_and_paths(project):
    with Served(project, "--allow-writes") as server:
        for path, method in ROUTES.items():
            for other in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "POST" if method == "GET" else "GET"):
                status, headers, answer = server.call(other, path)
                assert status == 405 and is_error(status, headers, answer) and method in headers["allow"], (other, path)
        (status, headers, body), = answers(server.raw(b"HEAD /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").replace(b"content-length", b"x-length"))
        assert (status, body) == (200, b"")
        for path in ("//v1/run", "/v1//run", "/v1/../v1/run", "/v1/./run", "/v1/%2e%2e/v1/run", "/v1/%72un", "/v1/run/", "/V1/RUN", "/v1/run%00", "/v1/run;x", "/health/", "/%2e", "/v1", "/favicon.ico", "/etc/passwd", "/page.css"):
            for method in ("GET", "POST"):
                status, headers, answer = server.call(method, path)
                assert status == 404 and is_error(status, headers, answer), path
        assert server.call("GET", "/health?x=1#y")[0] == 200


def test_the_access_log_tells_no_bodies(project):
    with Served(project) as server:
        server.call("POST", "/v1/route", {"task": "tell nobody about swordfish"})
        server.call("GET", "/nosuch%0aforged%20line")
    line = re.compile(r"^[0-9a-f]+-\d+ (GET|POST) \S+.* \d{3} \d+\.\d ms$")
    log = [text.rstrip("\n") for text in server.log if "Ctrl-C" not in text]
    assert len(log) == 2 and all(line.match(text) for text in log), log
    assert " /v1/route 200 " in log[0] and "swordfish" not in "".join(server.log)


def test_a_log_that_nobody_reads_holds_nothing_up(project):
    process = subprocess.Popen([PROGRAM, "serve", "--project", str(project), "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    port = int(process.stdout.readline().rsplit(":", 1)[1])
    with socket.create_connection(("127.0.0.1", port), 30) as client:
        request = b"GET /health HTTP/1.1\r\nhost: localhost\r\nx: %s\r\n\r\n"
        for _ in range(40):
            client.sendall(request % (b"a" * 100) * 100)
            seen = 0
            while seen < 100:
                seen += client.recv(1 << 20).count(b"HTTP/1.1 200")
    process.terminate()
    process.communicate(timeout=20)


def test_a_port_in_use(project):
    with Served(project) as server:
        second = subprocess.run([PROGRAM, "serve", "--project", str(project), "--port", str(server.port)], capture_output=True, text=True, timeout=30)
        assert second.returncode == 2 and f"port {server.port} is in use" in second.stderr and "hint: " in second.stderr and second.stdout == ""


def test_only_loopback_listens(project):
    with Served(project) as server:
        others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {"127.0.0.1"}
        for address in [*others, "127.0.0.2"]:
            with pytest.raises(OSError):
                socket.create_connection((address, server.port), 2).close()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_in_order(project, number):
    server = Served(project)
    with server.connect() as idle:
        idle.sendall(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n")
        assert idle.recv(4096).startswith(b"HTTP/1.1 200")
        assert server.stop(number) == 0
    with pytest.raises(OSError):
        server.connect()


@pytest.fixture
def silent(monkeypatch):
    server = SilentServer()
    monkeypatch.setenv("OLLAMA_HOST", server.host)
    yield server
    server.go_on.set()
    server.close()


def test_reads_go_on_while_a_run_writes(project, silent):
    with Served(project, "--allow-writes") as server:
        writing = threading.Thread(target=lambda: server.call("POST", "/v1/run", {"task": TASK}, timeout=90))
        writing.start()
        assert silent.asked.wait(30)
        assert server.call("GET", "/health", timeout=5)[2]["runs"] == {"running": 1, "waiting": 0}
        assert server.call("POST", "/v1/brief", {}, timeout=10)[0] == 200
        assert server.call("POST", "/v1/route", {"task": TASK}, timeout=10)[0] == 200
        # A question back needs nothing that the writer holds.
        assert server.call("POST", "/v1/chat/completions", chat(("user", "clean this up")), timeout=10)[0] == 200
        silent.go_on.set()
        writing.join(60)


def test_the_queue_has_an_end(project, silent):
    with Served(project, "--allow-writes") as server:
        clients = []
        request = json.dumps({"task": TASK}).encode()
        head = b"POST /v1/run HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n" % len(request)
        for _ in range(9):
            client = server.connect(60)
            client.sendall(head + request)
            clients.append(client)
        wait_for(lambda: server.call("GET", "/health")[2]["runs"]["waiting"] == 8)
        status, headers, answer = server.call("POST", "/v1/run", {"task": TASK})
        assert status == 429 and is_error(status, headers, answer)["code"] == "too_many_runs" and int(headers["retry-after"]) > 0
        assert server.call("POST", "/v1/layout", {})[0] == 200
        # Those who go away make room, the one at work as well as those who wait.
        for client in clients:
            client.close()
        wait_for(lambda: server.call("GET", "/health")[2]["runs"] == {"running": 0, "waiting": 0})
    assert any("number 8 of 8 in line" in line for line in server.log)


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.05)


def test_a_client_that_goes_away_stops_its_run_with_files_whole(project, engine):
    # A draft was tried and taken back before the engine fell silent.
    silent = engine(WRONG_DRAFT, Wait(""))
    before = {name: about[2] for name, about in tree(project).items()}
    with Served(project, "--allow-writes") as server:
        request = json.dumps({"task": TASK}).encode()
        with server.connect() as client:
            client.sendall(b"POST /v1/run HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n" % len(request) + request)
            assert silent.waiting.wait(60)
        wait_for(lambda: server.call("GET", "/health")[2]["runs"]["running"] == 0)
    after = {name: about[2] for name, about in tree(project).items() if ".harness" not in name}
    assert after == before


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_signal_during_a_run_leaves_files_whole(project, engine):
    silent = engine(WRONG_DRAFT, Wait(""))
    before = {name: about[2] for name, about in tree(project).items()}
    server = Served(project, "--allow-writes")
    asking = threading.Thread(target=lambda: quietly(server.call, "POST", "/v1/run", {"task": TASK}, timeout=60))
    asking.start()
    assert silent.waiting.wait(60)
    assert server.stop(signal.SIGTERM) == 0
    asking.join(10)
    assert {name: about[2] for name, about in tree(project).items() if ".harness" not in name} == before


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_run_that_ends_in_time_is_answered_after_a_signal(project, silent):
    """Running requests get ten seconds, and new ones are not taken any more."""
    server = Served(project)
    got = []
    asking = threading.Thread(target=lambda: got.append(server.call("POST", "/v1/ask", {"task": "what does discount do?"}, timeout=60)))
    asking.start()
    assert silent.asked.wait(30)
    server.process.send_signal(signal.SIGTERM)
    wait_for(lambda: is_refused(server))
    silent.go_on.set()
    asking.join(30)
    assert [(status, answer["stopped"]) for status, _, answer in got] == [(200, "done")]
    assert server.stop(signal.SIGTERM) == 0


def is_refused(server):
    try:
        server.connect(5).close()
    except OSError:
        return True
    return False


def quietly(call, *words, **more):
    try:
        call(*words, **more)
    except OSError:
        pass


def test_the_page_and_last_show_what_a_run_of_the_command_line_changed(project):
    (project / "shop/pricing.py").write_text(RIGHT, encoding="utf-8")
    done = subprocess.run([PROGRAM, "run", project, "rename discount to rebate", "--json"], capture_output=True, text=True, timeout=120)
    result = json.loads(done.stdout)
    assert done.returncode == 0 and result["ok"], done.stderr
    told = subprocess.run([PROGRAM, "last", result["run_id"], "--project", project, "--json"], capture_output=True, text=True, timeout=60)
    assert json.loads(told.stdout)["diff"] == result["diff"]
    with Served(project) as server:
        page = server.raw(b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        assert b"+def rebate(" in page
    subprocess.run([PROGRAM, "undo", "--project", project], check=True, capture_output=True, timeout=60)
    told = subprocess.run([PROGRAM, "last", result["run_id"], "--project", project], capture_output=True, text=True, timeout=60)
    assert "undone" in told.stdout and "+def rebate(" in told.stdout


@pytest.mark.parametrize("words", [[], ["--allow-writes"]], ids=["reading", "writing"])
def test_a_project_that_is_no_project_is_warned_of(project, tmp_path, monkeypatch, words):
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    wide = [pathlib.Path(project.anchor), home, tmp_path]
    wide += [pathlib.Path("/usr")] if sys.platform == "linux" else []
    for folder in wide:
        with Served(folder, *words) as server:
            wait_for(lambda: any("Ctrl-C stops" in line for line in server.log))
        warned = [line for line in server.log if line.startswith("warning: ")]
        changed = "read and may be changed" if words else "read"
        assert len(warned) == 1 and f"`{folder}` is " in warned[0] and warned[0].rstrip().endswith(changed), (folder, server.log)
        assert "hint: name the folder of one project\n" in server.log
    with Served(project, *words) as server:
        wait_for(lambda: any("Ctrl-C stops" in line for line in server.log))
    assert not [line for line in server.log if "warning" in line]
