"""Calls the server through the client that `openapi-python-client` makes of its description: calls.py ADDRESS TASK"""

import json
import sys

from harness_client import Client
from harness_client.api.default import brief, health, run
from harness_client.models import BriefBody, RunBody

address, task = sys.argv[1:]
client = Client(base_url=address, timeout=60)
done = run.sync(client=client, body=RunBody(task=task))
vague = run.sync(client=client, body=RunBody(task=" "))
print(json.dumps({
    "version": health.sync(client=client).version,
    "files": brief.sync(client=client, body=BriefBody()).data.files,
    "writes": done.writes,
    "stopped": done.stopped,
    "problem": vague.error.param,
}))
