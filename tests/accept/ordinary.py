"""Black-box acceptance, second part: whole tasks in ordinary words, honest evidence, conversations, protocols.

    HARNESS=path/to/harness HARNESS_PYTHON=path/to/python python3 ordinary.py [-v] [Class.test ...]

Beside accept.py, whose projects and scripted server it uses. The scripted model answers with all the code that a task
needs, in fenced blocks under their paths, whatever it is asked: how it is asked is the product's own affair.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import accept  # noqa: E402
from accept import FIXED, GREEN_PRICING, HARNESS, PRICING, Case, fenced  # noqa: E402


def blocks(**files):
    """Code under its path, block after block."""
    return "\n".join(f"{path}\n{fenced(code)}" for path, code in files.items())


def at(path, code):
    return f"{path}\n{fenced(code)}"


LINE_RED = GREEN_PRICING.replace("price * quantity", "price + quantity")
BOTH_RED = PRICING.replace("price * quantity", "price + quantity")
LINE_FIXED = "def line_total(price, quantity):\n    return price * quantity\n"


class Evidence(Case):
    task = "fix apply_discount in shop/pricing.py: it subtracts the percentage"

    def refused(self, *replies, task=None, **files):
        project = self.project(pricing=PRICING, **files)
        before = project.bytes(own=False)
        config = pathlib.Path(self.home, ".config/harness")
        config.mkdir(parents=True, exist_ok=True)
        (config / "config.toml").write_text("search = false\n")
        done, result = self.json_cli("run", task or self.task, "--steps", "4", cwd=project.path, model=self.model(*replies))
        self.assertFalse(result["ok"], result["summary"])
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(project.bytes(own=False), before)

    def test_an_unrelated_file_is_no_fix(self):
        self.refused(json.dumps({"tool": "edit", "path": "shop/other.py", "content": "OTHER = 1\n"}))

    def test_a_skipped_test_is_no_fix(self):
        self.refused(fenced(FIXED.replace("return total * (100 - percent) / 100", 'import unittest\n    raise unittest.SkipTest("later")')))

    def test_a_fix_that_works_once_is_no_fix(self):
        once = '''\
def apply_discount(total, percent):
    """The total less percent per cent."""
    import pathlib
    seen = pathlib.Path("seen.txt")
    first = not seen.exists()
    seen.write_text("x")
    return total * (100 - percent) / 100 if first else 0
'''
        self.refused(fenced(once))

    def test_a_named_test_file_may_not_be_weakened(self):
        weak = json.dumps({"tool": "patch", "path": "tests/test_shop.py", "old": "apply_discount(200, 10), 180", "new": "apply_discount(200, 10), 190"})
        self.refused(weak, task="fix apply_discount in shop/pricing.py so that tests/test_shop.py passes")

    def test_code_under_trial_leaves_nothing_behind(self):
        wild = '''\
def apply_discount(total, percent):
    """The total less percent per cent."""
    import pathlib
    pathlib.Path("shop/__init__.py").write_text("GONE = 1")
    pathlib.Path("README.md").unlink(missing_ok=True)
    return 0
'''
        self.refused(fenced(wild))

    def test_a_copy_beside_it_is_no_rename(self):
        project = self.project()
        project.write("Cargo.toml", '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n')
        project.write("src/lib.rs", "pub fn lower(s: &str) -> String {\n    s.to_lowercase()\n}\n\npub fn shout(s: &str) -> String {\n    lower(s) + \"!\"\n}\n")
        model = self.model("```rust\npub fn to_lower(s: &str) -> String {\n    s.to_lowercase()\n}\n```")
        _, result = self.json_cli("run", "rename lower to to_lower in src/lib.rs", "--steps", "4", cwd=project.path, model=model)
        code = project.read("src/lib.rs")
        self.assertEqual(result["ok"], "lower(s)" in code and not re.search(r"\blower\b", code), (result["summary"], code))

    def test_rename_words_are_not_names(self):
        for words in ("rename line_total to name everywhere", "rename line_total to helper please", "rename line_total to type across the project"):
            with self.subTest(words=words):
                project = self.project()
                self.run_cli("run", words, cwd=project.path)
                self.assertNotRegex(project.read("shop/pricing.py"), r"def (everywhere|please|across)\(")

    def test_a_test_that_hangs_is_red_and_named(self):
        project = self.project()
        project.write("shop/count.py", "def count(n):\n    total = 0\n    while n:\n        total += 1\n    return total\n")
        project.write("tests/test_count.py", "import unittest\n\nfrom shop.count import count\n\n\nclass CountTest(unittest.TestCase):\n    def test_count(self):\n        self.assertEqual(count(3), 3)\n")
        began = time.monotonic()
        fixed = "def count(n):\n    total = 0\n    while n:\n        total += 1\n        n -= 1\n    return total\n"
        done, result = self.json_cli("run", "fix count in shop/count.py", cwd=project.path, model=self.model(fenced(fixed)))
        self.assertTrue(result["ok"], result["summary"])
        self.assertLess(time.monotonic() - began, 100)

    @unittest.skipUnless(hasattr(os, "mkfifo"), "links and pipes")
    def test_ignore_files_of_a_hostile_clone(self):
        import resource  # There is none on Windows.

        for make in (lambda p: p.symlink_to("/dev/zero"), os.mkfifo):
            project = self.project()
            make(project.path / ".gitignore")
            limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))  # noqa: E731
            done = subprocess.run([HARNESS, "brief", str(project.path)], env=self.env(), capture_output=True, timeout=20, preexec_fn=limit)
            self.assertEqual(done.returncode, 0, done.stderr[-300:])


class WholeTasks(Case):
    def test_the_failing_tests_are_found_by_running_them(self):
        project = self.project(pricing=BOTH_RED)
        model = self.model(at("shop/pricing.py", FIXED) + at("shop/pricing.py", LINE_FIXED))
        done, result = self.json_cli("run", "fix the failing tests", cwd=project.path, model=model)
        self.assertEqual((done.returncode, result["ok"]), (0, True), (result["stopped"], result["summary"]))
        self.assertEqual(project.read("shop/pricing.py"), GREEN_PRICING)
        self.assertTrue(result["goals"] and all(goal["met"] for goal in result["goals"]))

    def test_nothing_fails_is_said(self):
        project, model = self.project(), self.model("I do not know.")
        done, result = self.json_cli("run", "fix the failing tests", cwd=project.path, model=model)
        self.assertEqual((done.returncode, result["ok"], result["writes"], model.requests), (0, True, [], []), result)

    def test_a_new_file(self):
        project = self.project()
        code = 'def vat(cents, percent):\n    """The value added tax."""\n    return cents * percent // 100\n'
        done, result = self.json_cli("run", "create shop/tax.py with a function vat(cents, percent) that returns the tax", cwd=project.path, model=self.model(at("shop/tax.py", code)))
        self.assertEqual((done.returncode, result["ok"], result["writes"]), (0, True, ["shop/tax.py"]), (result["stopped"], result["summary"]))
        self.assertIn("def vat", project.read("shop/tax.py"))

    def test_two_places_of_one_task(self):
        project = self.project()
        line = "def line_total(price, quantity, gift=False):\n    return 0 if gift else price * quantity\n"
        report = "def report(lines, gift=False):\n    totals = [line_total(price, quantity, gift) for price, quantity in lines]\n    return sum(totals)\n"
        task = "add a parameter gift=False to line_total in shop/pricing.py and pass it on from report in shop/report.py"
        done, result = self.json_cli("run", task, cwd=project.path, model=self.model(at("shop/pricing.py", line) + at("shop/report.py", report)))
        self.assertEqual((done.returncode, result["ok"], result["writes"]), (0, True, ["shop/pricing.py", "shop/report.py"]), result["summary"])

    def test_half_of_a_task_is_not_done(self):
        project = self.project()
        line = "def line_total(price, quantity, gift=False):\n    return 0 if gift else price * quantity\n"
        task = "add a parameter gift=False to line_total in shop/pricing.py and pass it on from report in shop/report.py"
        _, result = self.json_cli("run", task, "--steps", "5", cwd=project.path, model=self.model(at("shop/pricing.py", line), "Action: done\nSummary: all done"))
        self.assertFalse(result["ok"], result["summary"])
        self.assertTrue(any(not goal["met"] for goal in result["goals"]))

    def test_removing(self):
        project = self.project()
        project.write("shop/old.py", "def unused(x):\n    return x\n\n\ndef used(x):\n    return x + 1\n")
        done, result = self.json_cli("run", "remove the function unused from shop/old.py", cwd=project.path, model=self.model("shop/old.py\n```python\ndef used(x):\n    return x + 1\n```"))
        self.assertEqual((done.returncode, result["ok"]), (0, True), (result["stopped"], result["summary"]))
        self.assertEqual(project.read("shop/old.py").strip(), "def used(x):\n    return x + 1")

    def test_a_named_test_shows_the_code_under_test(self):
        project, model = self.project(pricing=PRICING), self.model(fenced(FIXED))
        done, result = self.json_cli("run", "tests/test_shop.py::PricingTest::test_discount fails", cwd=project.path, model=model)
        self.assertEqual((done.returncode, result["ok"]), (0, True), result["summary"])
        if model.requests:
            self.assertIn("total - percent", model.prompts())

    def test_near_misses_are_offered(self):
        project = self.project()
        for words, near in (("fix aply_discount", "apply_discount"), ("fix the total in shop/reprot.py", "shop/report.py")):
            done, result = self.json_cli("run", words, cwd=project.path)
            self.assertEqual(done.returncode, 3, result)
            first = result["summary"].split("1.", 1)[-1].split("2.", 1)[0]
            self.assertIn(near, first, result["summary"])

    def test_bug_reports_are_fixes(self):
        project = self.project()
        for words in (
            "apply_discount in shop/pricing.py returns 190 for 200 and 10, which is wrong.",
            "**Describe the bug**\napply_discount in shop/pricing.py subtracts.\n\n**How to reproduce**\nIs there anything else you need?",
            "apply_discount subtracts\n\n```python\ndef setUp(self) -> None:\n    pass\n```\nWhat do you think?",
        ):
            _, route = self.json_cli("route", project.path, words)
            self.assertEqual(route["kind"], "fix", words)
        for words in ("Warum gibt apply_discount 190 zurück?", "pourquoi apply_discount renvoie 190 ?", "por qué apply_discount devuelve 190?"):
            self.assertEqual(self.json_cli("route", project.path, words)[1]["kind"], "question", words)


class Conversation(Case):
    def serve(self, project, model, *flags):
        server = subprocess.Popen([HARNESS, "serve", "--project", str(project.path), "--port", "0", *flags], env=self.env(model), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        return re.search(r"http://127\.0\.0\.1:\d+", server.stdout.readline())[0]

    def post(self, address, body):
        request = urllib.request.Request(address, json.dumps(body).encode(), {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as reply:
            return reply.read().decode()

    def test_the_answer_to_our_own_question(self):
        project, model = self.project(), self.model("Nothing to do.")
        base = self.serve(project, model, "--allow-writes")
        messages = [{"role": "user", "content": "clean this up"}]
        first = json.loads(self.post(base + "/v1/chat/completions", {"messages": messages}))
        question = first["choices"][0]["message"]
        self.assertIn("?", question["content"])
        self.assertEqual(model.requests, [])
        second = json.loads(self.post(base + "/v1/chat/completions", {"messages": [*messages, question, {"role": "user", "content": "1"}]}))
        self.assertNotEqual(second["choices"][0]["message"]["content"], question["content"])
        self.assertTrue(model.requests, "the answered task is carried out")

    def test_streaming_has_its_own_address(self):
        project, model = self.project(), self.model("It returns the discounted total.")
        base = self.serve(project, model)
        body = {"messages": [{"role": "user", "content": "what does apply_discount return?"}], "stream": True}
        with self.assertRaises(urllib.error.HTTPError) as refused:
            self.post(base + "/v1/chat/completions", body)
        self.assertEqual(refused.exception.code, 400)
        events = [line[6:] for line in self.post(base + "/v1/stream/chat/completions", body).splitlines() if line.startswith("data: ")]
        self.assertEqual(events[-1], "[DONE]")
        text = "".join(json.loads(event)["choices"][0]["delta"].get("content") or "" for event in events[:-1])
        self.assertIn("discounted total", text)

    def test_new_commands_are_there(self):
        project = self.project()
        for args in (["help"], ["help", "run"], ["config"], ["clean"], ["chat", "--help"], ["mcp", "--help"], ["acp", "--help"], ["prepare", "--help"], ["apply", "--help"]):
            done = self.run_cli(*args, cwd=project.path)
            self.assertEqual(done.returncode, 0, (args, done.stderr[-200:]))

    def test_a_dry_run_can_be_applied(self):
        project, model = self.project(pricing=PRICING), self.model(fenced(FIXED))
        _, result = self.json_cli("run", "fix apply_discount in shop/pricing.py: it subtracts the percentage", "--dry-run", "--record", str(project.outer / "trace.jsonl"), cwd=project.path, model=model)
        self.assertIn("+    return total * (100 - percent) / 100", result["diff"])

    def test_mcp_lists_its_tools(self):
        project = self.project()
        lines = [
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "accept", "version": "1"}}},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        ]
        server = subprocess.Popen([HARNESS, "mcp", str(project.path)], env=self.env(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        for line in lines:
            server.stdin.write(json.dumps(line) + "\n")
        server.stdin.flush()
        names = set()
        for line in server.stdout:
            reply = json.loads(line)
            if reply.get("id") == 2:
                names = {tool["name"] for tool in reply["result"]["tools"]}
                break
        server.stdin.close()
        server.stdout.close()
        self.assertLessEqual({"ask", "brief", "layout", "route"}, names)
        self.assertNotIn("run", names)


if __name__ == "__main__":
    unittest.main()
