"""Whole runs with each language's own test tool: a small project with one bug, a model that gives the right answer.

python bench/suites/tools.py HARNESS [NAME…]

A tool that is not on this machine is skipped and told.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "model_server"))

from scripted import ScriptedServer  # noqa: E402

NODE = "exports.add = (a, b) => {\n  return a - b;\n};\n"
NODE_FIX = "```js\nexports.add = (a, b) => {\n  return a + b;\n};\n```\n"
RUBY = "def add(a, b)\n  a - b\nend\n"
RUBY_FIX = "```ruby\ndef add(a, b)\n  a + b\nend\n```\n"
PYTHON = "def add(a, b):\n    return a - b\n"
PYTHON_FIX = "```python\ndef add(a, b):\n    return a + b\n```\n"
PACKAGE = '{{"name": "calc", "version": "1.0.0", "scripts": {{"test": "{}"}}}}\n'
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>calc</artifactId>
<version>1</version><properties><maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target></properties>
<dependencies><dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.13.2</version><scope>test</scope></dependency></dependencies></project>
"""
CMAKE = """cmake_minimum_required(VERSION 3.16)
project(calc C)
enable_testing()
add_library(calc calc.c)
add_executable(test_add test_add.c)
target_link_libraries(test_add calc)
add_test(NAME adds COMMAND test_add)
"""
C_TEST = '#include <stdio.h>\n\nint add(int a, int b);\n\nint main(void)\n{\n    printf("%d\\n", add(2, 3));\n    return add(2, 3) != 5;\n}\n'
C_CODE = "int add(int a, int b)\n{\n    return a - b;\n}\n"
C_FIX = "```c\nint add(int a, int b)\n{\n    return a + b;\n}\n```\n"
JAVA_TEST = "import static org.junit.Assert.assertEquals;\nimport org.junit.Test;\n\npublic class CalcTest {\n    @Test\n    public void adds() {\n        assertEquals(5, Calc.add(2, 3));\n    }\n}\n"

# name: the programs that it needs, the files, the file with the bug, what the model says, and what fetches packages first
TOOLS = {
    "unittest": (["python3"], {"calc.py": PYTHON, "test_calc.py": "import unittest\n\nfrom calc import add\n\n\nclass CalcTest(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(2, 3), 5)\n"}, "calc.py", PYTHON_FIX, []),
    "cargo": (["cargo"], {"Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n', "src/lib.rs": "pub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {\n        assert_eq!(super::add(2, 3), 5);\n    }\n}\n"}, "src/lib.rs", "```rust\npub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n```\n", [["cargo", "generate-lockfile", "--offline"]]),
    "go": (["go"], {"go.mod": "module example.test/calc\n\ngo 1.19\n", "calc.go": "package calc\n\n// Add adds.\nfunc Add(a, b int) int {\n\treturn a - b\n}\n", "calc_test.go": 'package calc\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(2, 3) != 5 {\n\t\tt.Errorf("Add(2, 3) is %d", Add(2, 3))\n\t}\n}\n'}, "calc.go", "```go\n// Add adds.\nfunc Add(a, b int) int {\n\treturn a + b\n}\n```\n", []),
    "node": (["node", "npm"], {"package.json": PACKAGE.format("node --test"), "calc.js": NODE, "calc.test.js": 'const test = require("node:test");\nconst assert = require("node:assert");\nconst { add } = require("./calc");\n\ntest("adds", () => {\n  assert.strictEqual(add(2, 3), 5);\n});\n'}, "calc.js", NODE_FIX, []),
    "mocha": (["node", "npm"], {"package.json": PACKAGE.format("mocha"), "calc.js": NODE, "test/calc.js": 'const assert = require("node:assert");\nconst { add } = require("../calc");\n\ndescribe("add", () => {\n  it("adds", () => {\n    assert.strictEqual(add(2, 3), 5);\n  });\n});\n'}, "calc.js", NODE_FIX, [["npm", "install", "--silent", "--save-dev", "mocha@10"]]),
    "jest": (["node", "npm"], {"package.json": PACKAGE.format("jest"), "calc.js": NODE, "calc.test.js": 'const { add } = require("./calc");\n\ntest("adds", () => {\n  expect(add(2, 3)).toBe(5);\n});\n'}, "calc.js", NODE_FIX, [["npm", "install", "--silent", "--save-dev", "jest@29"]]),
    "vitest": (["node", "npm"], {"package.json": PACKAGE.format("vitest"), "calc.mjs": "export const add = (a, b) => {\n  return a - b;\n};\n", "calc.test.mjs": 'import { expect, test } from "vitest";\nimport { add } from "./calc.mjs";\n\ntest("adds", () => {\n  expect(add(2, 3)).toBe(5);\n});\n'}, "calc.mjs", "```js\nexport const add = (a, b) => {\n  return a + b;\n};\n```\n", [["npm", "install", "--silent", "--save-dev", "vitest@2"]]),
    "ava": (["node", "npm"], {"package.json": PACKAGE.format("ava"), "calc.js": NODE, "test.js": 'const test = require("ava");\nconst { add } = require("./calc");\n\ntest("adds", (t) => {\n  t.is(add(2, 3), 5);\n});\n'}, "calc.js", NODE_FIX, [["npm", "install", "--silent", "--save-dev", "ava@5"]]),
    "maven": (["mvn", "javac"], {"pom.xml": POM, "src/main/java/Calc.java": "public class Calc {\n    public static int add(int a, int b) {\n        return a - b;\n    }\n}\n", "src/test/java/CalcTest.java": JAVA_TEST}, "src/main/java/Calc.java", "```java\n    public static int add(int a, int b) {\n        return a + b;\n    }\n```\n", [["mvn", "-q", "-B", "test"]]),
    "ctest": (["ctest", "cmake", "cc"], {"CMakeLists.txt": CMAKE, "calc.c": C_CODE, "test_add.c": C_TEST}, "calc.c", C_FIX, []),
    "make": (["make", "cc"], {"Makefile": "check: test_add\n\t./test_add\n\ntest_add: calc.c test_add.c\n\tcc -o test_add calc.c test_add.c\n", "calc.c": C_CODE, "test_add.c": C_TEST}, "calc.c", C_FIX, []),
    "phpunit": (["phpunit"], {"phpunit.xml": '<?xml version="1.0"?>\n<phpunit bootstrap="src/calc.php"><testsuites><testsuite name="all"><directory>tests</directory></testsuite></testsuites></phpunit>\n', "src/calc.php": "<?php\n\nfunction add($a, $b)\n{\n    return $a - $b;\n}\n", "tests/CalcTest.php": "<?php\n\nuse PHPUnit\\Framework\\TestCase;\n\nclass CalcTest extends TestCase\n{\n    public function testAdd()\n    {\n        $this->assertSame(5, add(2, 3));\n    }\n}\n"}, "src/calc.php", "```php\nfunction add($a, $b)\n{\n    return $a + $b;\n}\n```\n", []),
    "rspec": (["rspec"], {".rspec": "--require spec_helper\n", "lib/calc.rb": RUBY, "spec/spec_helper.rb": 'require_relative "../lib/calc"\n', "spec/calc_spec.rb": 'describe "add" do\n  it "adds" do\n    expect(add(2, 3)).to eq(5)\n  end\nend\n'}, "lib/calc.rb", RUBY_FIX, []),
    "minitest": (["rake"], {"Rakefile": 'require "rake/testtask"\n\nRake::TestTask.new do |t|\n  t.libs << "lib"\n  t.pattern = "test/*_test.rb"\nend\n', "lib/calc.rb": RUBY, "test/calc_test.rb": 'require "minitest/autorun"\nrequire "calc"\n\nclass CalcTest < Minitest::Test\n  def test_add\n    assert_equal 5, add(2, 3)\n  end\nend\n'}, "lib/calc.rb", RUBY_FIX, []),
    "gradle": (["gradle"], {}, "", "", []),
    "dotnet": (["dotnet"], {}, "", "", []),
}


def measure(harness: str, name: str) -> dict:
    programs, files, path, reply, first = TOOLS[name]
    missing = [program for program in programs if not shutil.which(program)]
    if missing:
        return {"name": name, "skipped": f"no {', '.join(missing)} here"}
    with tempfile.TemporaryDirectory() as folder, ScriptedServer([reply]) as server:
        project = pathlib.Path(folder) / "calc"
        for file, text in files.items():
            (project / file).parent.mkdir(parents=True, exist_ok=True)
            (project / file).write_text(text)
        for command in first:
            subprocess.run(command, cwd=project, capture_output=True, timeout=600)
        environment = {**os.environ, "OLLAMA_HOST": server.host, "XDG_CONFIG_HOME": f"{folder}/config", "XDG_STATE_HOME": f"{folder}/state"}
        (pathlib.Path(folder) / "config" / "harness").mkdir(parents=True)
        (pathlib.Path(folder) / "config" / "harness" / "config.toml").write_text("search = false\n")

        def said(*words: str) -> dict:
            done = subprocess.run([harness, *words, "--json", "-q"], cwd=project, env=environment, capture_output=True, text=True, timeout=600)
            try:
                return json.loads(done.stdout)
            except ValueError:
                return {"summary": done.stderr[-300:], "ok": False}

        tests, fixed = said("test"), said("run", f"fix {'Add' if name == 'go' else 'add'} in {path}")
        failures = [f"{failure['id']}: {failure['message']}" for failure in tests.get("failures", [])]
        return {"name": name, "tests": tests["summary"], "failures": failures, "ok": fixed["ok"], "summary": fixed["summary"][:200]}


def main() -> None:
    harness, *names = sys.argv[1:]
    for name in names or TOOLS:
        print(json.dumps(measure(str(pathlib.Path(harness).absolute()), name)), flush=True)


if __name__ == "__main__":
    main()
