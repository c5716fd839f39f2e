#!/usr/bin/env python3
"""Makes the outputs beside this file anew: python3 tests/messages/make.py [NAME...]

Each is what a real tool prints where a suite cannot start or be compiled. What we say of it stands in `expected.txt`,
which `run/why.rs` is held to. Needs the tools themselves; what is not at hand keeps its old output.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
UNITTEST = [sys.executable, "-m", "unittest", "discover"]
TEST = "def test_a():\n    assert True\n"
CARGO = '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n'
GO = "module example.com/a\n\ngo 1.18\n"
GO_TEST = 'package a\n\nimport "testing"\n\nfunc TestA(t *testing.T) {}\n'
NPM = '{"name": "a", "version": "1.0.0", "scripts": {"test": "%s"}}'

CASES = {
    # Python
    "pytest_missing": ({"test_a.py": TEST}, [sys.executable, "-S", "-m", "pytest"]),
    "pytest_plugin_option": ({"pytest.ini": "[pytest]\naddopts = --nosuch-cov=a\n", "test_a.py": TEST}, PYTEST),
    "pytest_plugin_required": ({"pytest.ini": "[pytest]\nrequired_plugins = pytest-nosuch\n", "test_a.py": TEST}, PYTEST),
    "pytest_plugin_named": ({"test_a.py": TEST}, [*PYTEST, "-p", "nosuch_plugin"]),
    "pytest_too_old": ({"pytest.ini": "[pytest]\nminversion = 99\n", "test_a.py": TEST}, PYTEST),
    "pytest_broken_settings": ({"pytest.ini": "[pytest\naddopts\n", "test_a.py": TEST}, PYTEST),
    "pytest_broken_pyproject": ({"pyproject.toml": "[tool.pytest.ini_options\n", "test_a.py": TEST}, PYTEST),
    "pytest_unknown_setting": ({"pytest.ini": "[pytest]\nnosuch = 1\n", "test_a.py": TEST}, [*PYTEST, "--strict-config"]),
    "pytest_no_such_file": ({"test_a.py": TEST}, [*PYTEST, "tests/test_gone.py"]),
    "pytest_conftest_import": ({"conftest.py": "import nosuch_package\n", "test_a.py": TEST}, PYTEST),
    "pytest_conftest_error": ({"conftest.py": "1 / 0\n", "test_a.py": TEST}, PYTEST),
    "pytest_test_import": ({"test_a.py": "import nosuch_package\n" + TEST}, PYTEST),
    "pytest_test_syntax": ({"test_a.py": "def test_a(:\n"}, PYTEST),
    "pytest_name_gone": ({"shop.py": "", "test_a.py": "from shop import total\n" + TEST}, PYTEST),
    "pytest_same_names": ({"a/test_a.py": TEST, "b/test_a.py": TEST}, PYTEST),
    "pytest_django": ({"django_like.py": "class ImproperlyConfigured(Exception): pass\n", "conftest.py": "from django_like import ImproperlyConfigured\nraise ImproperlyConfigured('Requested setting INSTALLED_APPS, but settings are not configured.')\n", "test_a.py": TEST}, PYTEST),
    "pytest_variable": ({"conftest.py": "import os\nos.environ['DATABASE_URL']\n", "test_a.py": TEST}, PYTEST),
    "pytest_library": ({"conftest.py": "import ctypes\nctypes.CDLL('libnosuch.so.1')\n", "test_a.py": TEST}, PYTEST),
    "pytest_metadata": ({"conftest.py": "from importlib.metadata import version\nversion('nosuch-dist')\n", "test_a.py": TEST}, PYTEST),
    "pytest_binary": ({"conftest.py": "import subprocess\nsubprocess.run(['nosuch-program'])\n", "test_a.py": TEST}, PYTEST),
    "pytest_network": ({"conftest.py": "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:9/')\n", "test_a.py": TEST}, PYTEST),
    "unittest_import": ({"test_a.py": "import nosuch_package\n"}, UNITTEST),
    "unittest_no_folder": ({"a.py": ""}, [*UNITTEST, "-s", "tests"]),
    "unittest_no_module": ({"a.py": ""}, [sys.executable, "-m", "unittest", "tests.test_gone"]),
    "python_version": ({"test_a.py": "x = 1\n", "setup.py": "import sys\nsys.exit('a needs Python 99 or newer')\n"}, [sys.executable, "setup.py", "test"]),
    # Rust
    "cargo_compile": ({"Cargo.toml": CARGO, "src/lib.rs": "pub fn a() -> u32 { total }\n"}, ["cargo", "test", "--offline"]),
    "cargo_types": ({"Cargo.toml": CARGO, "src/lib.rs": "pub fn a() -> u32 { \"a\" }\n"}, ["cargo", "test", "--offline"]),
    "cargo_crate": ({"Cargo.toml": CARGO + "[dependencies]\nno-such-crate-of-mine = \"1\"\n", "src/lib.rs": ""}, ["cargo", "test", "--offline"]),
    "cargo_locked": ({"Cargo.toml": CARGO, "src/lib.rs": ""}, ["cargo", "test", "--offline", "--locked"]),
    "cargo_manifest": ({"Cargo.toml": "[package]\nnname = \"a\"\n", "src/lib.rs": ""}, ["cargo", "test", "--offline"]),
    "cargo_edition": ({"Cargo.toml": CARGO.replace("2021", "2099"), "src/lib.rs": ""}, ["cargo", "test", "--offline"]),
    "cargo_version": ({"Cargo.toml": CARGO + "rust-version = \"9.99\"\n", "src/lib.rs": ""}, ["cargo", "test", "--offline"]),
    # Go
    "go_compile": ({"go.mod": GO, "a.go": "package a\n\nfunc A() int { return total }\n", "a_test.go": GO_TEST}, ["go", "test", "./..."]),
    "go_syntax": ({"go.mod": GO, "a.go": "package a\n\nfunc A( {\n", "a_test.go": GO_TEST}, ["go", "test", "./..."]),
    "go_unused": ({"go.mod": GO, "a.go": "package a\n\nimport \"fmt\"\n", "a_test.go": GO_TEST}, ["go", "test", "./..."]),
    "go_module": ({"go.mod": GO, "a.go": "package a\n\nimport _ \"example.com/gone\"\n", "a_test.go": GO_TEST}, ["go", "test", "-mod=mod", "./..."]),
    "go_no_module": ({"a.go": "package a\n", "a_test.go": GO_TEST}, ["go", "test", "./..."]),
    "go_sum": ({"go.mod": GO + "\nrequire example.com/gone v1.0.0\n", "a.go": "package a\n\nimport _ \"example.com/gone\"\n", "a_test.go": GO_TEST}, ["go", "test", "./..."]),
    # JavaScript
    "npm_program": ({"package.json": NPM % "nosuch-jest"}, ["npm", "test"]),
    "npm_no_script": ({"package.json": '{"name": "a", "version": "1.0.0"}'}, ["npm", "test"]),
    "npm_broken": ({"package.json": "{"}, ["npm", "test"]),
    "node_module": ({"package.json": NPM % "node a.js", "a.js": "require('nosuch-package');\n"}, ["npm", "test"]),
    "node_syntax": ({"package.json": NPM % "node a.js", "a.js": "function a( {\n"}, ["npm", "test"]),
    "node_import": ({"package.json": NPM % "node a.mjs", "a.mjs": "import 'nosuch-package';\n"}, ["npm", "test"]),
    # C, Java and make
    "gcc_compile": ({"Makefile": "test:\n\tgcc -o a a.c\n", "a.c": "int main(void) { return total; }\n"}, ["make", "test"]),
    "gcc_header": ({"Makefile": "test:\n\tgcc -o a a.c\n", "a.c": "#include <nosuch.h>\nint main(void) { return 0; }\n"}, ["make", "test"]),
    "gcc_link": ({"Makefile": "test:\n\tgcc -o a a.c\n", "a.c": "int total(void);\nint main(void) { return total(); }\n"}, ["make", "test"]),
    "make_no_target": ({"Makefile": "all:\n\ttrue\n"}, ["make", "check"]),
    "make_program": ({"Makefile": "test:\n\tnosuch-program\n"}, ["make", "test"]),
    "javac_compile": ({"A.java": "class A { int a() { return total; } }\n"}, ["javac", "A.java"]),
    "javac_package": ({"A.java": "import org.nosuch.B;\nclass A {}\n"}, ["javac", "A.java"]),
    "maven_offline": ({"pom.xml": '<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>a</artifactId><version>1</version><dependencies><dependency><groupId>org.nosuch</groupId><artifactId>b</artifactId><version>1</version></dependency></dependencies></project>'}, ["mvn", "-o", "-q", "test"]),
    "maven_pom": ({"pom.xml": "<project>"}, ["mvn", "-o", "-q", "test"]),
}


def main(names):
    for name, (files, command) in CASES.items():
        if names and name not in names:
            continue
        if not shutil.which(command[0]):
            print(f"{name}: no {command[0]} here")
            continue
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder).resolve() / "project"
            for path, text in files.items():
                (place / path).parent.mkdir(parents=True, exist_ok=True)
                (place / path).write_text(text, encoding="utf-8")
            surroundings = {**os.environ, "NO_COLOR": "1", "GOFLAGS": "", "GOPROXY": "off", "LC_ALL": "C.UTF-8", "CARGO_TERM_COLOR": "never"}
            done = subprocess.run(command, cwd=place, env=surroundings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=300)
            said = done.stdout.replace(str(place), "PROJECT").replace(str(pathlib.Path(folder).resolve()), "TMP")
            said = re.sub(r"/\S*?/(lib/python3\.\d+|site-packages|bin/python\d*|node-v\S*|lib/go-?[\d.]*|usr/share/\S*|\.npm/_logs)", r"/\1", said)
            said = re.sub(r"/root/\S*|/home/\S*", "HOME", said)
            said = re.sub(r"in \d+\.\d+s", "in 0.01s", said)
            # Addresses and settings of the machine that it was made on.
            said = re.sub(r"https?://[^\s)]+", "URL", said)
            said = re.sub(r"^npm warn .*\n|^npm error A complete log .*\n", "", said, flags=re.M)
            assert done.returncode != 0, (name, said)
            (HERE / f"{name}.txt").write_text(said, encoding="utf-8")
            print(f"{name}: {len(said.splitlines())} lines")


if __name__ == "__main__":
    main(sys.argv[1:])
