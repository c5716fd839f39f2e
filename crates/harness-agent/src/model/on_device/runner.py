# Serves one GGUF file with llama.cpp's own server, from the wheel `xllamacpp`. Started by harness, ends with it.
import sys

# A project must not be able to put a module of its own in front of a real one.
sys.path[:] = [folder for folder in sys.path if folder not in ("", ".")]

import json
import os
import threading


def end_with_harness():
    # The pipe is closed when harness goes, however it goes.
    sys.stdin.buffer.read()
    os._exit(0)


threading.Thread(target=end_with_harness, daemon=True).start()
settings = json.loads(os.environ.pop("HARNESS_ON_DEVICE"))

import xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path = settings["model"]
# Names differ between versions of the wheel; what a version does not have it does not need.
wanted = {
    "hostname": "127.0.0.1",
    "hostnames": ["127.0.0.1"],
    "port": 0,
    "api_keys": [settings["key"]],
    "n_ctx": settings["window"],
    "n_parallel": 1,
    "model_alias": {settings["name"]},
    "use_jinja": True,
    "warmup": False,
    "ui": False,
    "webui": False,
    "endpoint_slots": False,
    "cors_origins": "",
}
for name, value in wanted.items():
    if not hasattr(parameters, name):
        continue
    try:
        setattr(parameters, name, value)
    except (TypeError, ValueError):
        # Older versions have one text where newer ones have several.
        if isinstance(value, set):
            setattr(parameters, name, next(iter(value)))
for part in ("cpuparams", "cpuparams_batch"):
    getattr(parameters, part).n_threads = settings["threads"]
server = xllamacpp.Server(parameters)
print("harness: listening on " + server.listening_address, flush=True)
threading.Event().wait()
