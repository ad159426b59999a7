"""Many calls at once, run by hand: no answer may be lost or crossed, and memory must stay flat.

Usage: soak.py BINARY PROJECT [CALLS] [AT_ONCE]
The project needs a store. Prints calls a second and the server's resident memory over time.
"""

import json
import pathlib
import subprocess
import sys
import time

binary, project = sys.argv[1:3]
calls = int(sys.argv[3]) if len(sys.argv) > 3 else 10_000
at_once = int(sys.argv[4]) if len(sys.argv) > 4 else 20

server = subprocess.Popen([binary, "mcp", "--root", project], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


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
begun, asked, answered, open_calls, memory = time.monotonic(), 0, 0, {}, []
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
    if answered % max(calls // 10, 1) == 0:
        memory.append(resident())
lasted = time.monotonic() - begun
server.stdin.close()
assert server.stdout.read() == "" and server.wait() == 0
# Each thread's allocator keeps what one scan needed; after that nothing may be added a call.
middle, end = memory[len(memory) // 2], memory[-1]
assert end < middle * 1.25, f"resident memory grows: {memory}"
print(f"{answered} calls, {at_once} at once, {lasted:.1f} s, {answered / lasted:.0f} a second; resident KB by tenths: {memory}")
