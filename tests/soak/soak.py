"""Many calls at once, run by hand: no answer may be lost or crossed, and memory must stay flat.

Usage: soak.py BINARY [CALLS] [AT_ONCE]
Makes a small project of its own, and prints calls a second and the server's resident memory over time.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

binary = sys.argv[1]
calls = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
at_once = int(sys.argv[3]) if len(sys.argv) > 3 else 20

CONFIGURATION = """daemon = ["server.py"]
store = "state.db"
[guard]
processes = ["server.py"]
"""
INVENTORY = """schema = 1
[[path]]
id = "by_hand"
title = "Somebody kills the server by hand"
classification = "forbidden"
mechanism = "pkill"
guard = "The hook."
locations = ["ops/**"]
primitives = ["effect:kill"]
references = ["docs/ops.md"]
"""
folder = tempfile.TemporaryDirectory()
project = pathlib.Path(folder.name)
(project / "restartlint.toml").write_text(CONFIGURATION)
(project / "restart-paths.toml").write_text(INVENTORY)
(project / "server.py").write_text("import sys\n\n\ndef main():\n    for line in sys.stdin:\n        print(line)\n")

server = subprocess.Popen([binary, "mcp", "--root", str(project)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def send(frame):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **frame}) + "\n")
    server.stdin.flush()


def resident():
    """Kilobytes, from the system's own file."""
    lines = pathlib.Path(f"/proc/{server.pid}/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmRSS")))


def call(number):
    """A mix of tools; the answer tells which call it belongs to, where the tool echoes anything."""
    kind = number % 5
    if kind == 0:
        return "assess_lease", {"comments": [{"body": f"comment {number}"}], "pr": number}, None
    if kind == 1:
        wish = {"restart_class": "full_mcp_restart", "requester": {"session_id": f"s-{number}", "role": "operator"}}
        return "request_restart", wish, ("requester", {"session_id": f"s-{number}", "role": "operator"})
    if kind == 2:
        return "assert_restart_attempt", {"path_id": f"no_path_{number}"}, ("path_id", f"no_path_{number}")
    if kind == 3 and number % 50 == 3:
        return "check_sources", {}, ("schema", 1)
    return "assess_command", {"command": f"echo {number}"}, ("command", f"echo {number}")


info = {"name": "soak", "version": "1"}
send({"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info}})
server.stdout.readline()
begun, asked, answered, open_calls, memory, moments = time.monotonic(), 0, 0, {}, [], []
# The first calls read the catalogues and give each thread its memory.
warm, tenth = min(500, calls // 10), max(calls // 10, 1)
while answered < calls:
    while asked < calls and len(open_calls) < at_once:
        asked += 1
        tool, arguments, echo = call(asked)
        open_calls[asked] = echo
        send({"id": asked, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
    answer = json.loads(server.stdout.readline())
    echo = open_calls.pop(answer["id"])
    content = answer["result"]["structuredContent"]
    assert echo is None or content[echo[0]] == echo[1], (echo, answer)
    answered += 1
    if answered == warm:
        warmed = resident()
    if answered % tenth == 0:
        memory.append(resident())
        moments.append(time.monotonic())
lasted = time.monotonic() - begun
server.stdin.close()
assert server.stdout.read() == "" and server.wait() == 0
pace = [round(tenth / (end - start)) for start, end in zip([begun, *moments], moments)]
print(f"{answered} calls, {at_once} at once, {lasted:.1f} s, {answered / lasted:.0f} a second")
print(f"by tenths: calls a second {pace}, resident KB after {warm} calls {warmed}, then {memory}")
# What one call leaves would be there ten thousand times.
assert max(memory) < warmed * 1.15, "resident memory grows"
