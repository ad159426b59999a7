#!/usr/bin/env python3
"""Times restartlint beside ruff and ripgrep on the same trees, and prints a Markdown table.

    python3 benches/peers.py RESTARTLINT TREE [TREE …] [--runs 5] [--ruff ruff] [--rg rg]

Every tool runs once unmeasured, then all take turns, so that what else the machine does hits them
alike. The figures are medians of wall time in seconds, and the largest resident set in MiB.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
WORDS = r"\b(execv|execl|_exit|abort|killpg?|SystemExit)\b"


def tools(args, tree):
    lint = [args.restartlint]
    yield "rg --files", [args.rg, "--files", tree]
    yield "rg, the words", [args.rg, "--no-messages", "-c", WORDS, "-g", "*.py", tree]
    yield "ruff, two rules", [
        args.ruff, "check", "--no-cache", "--config", str(HERE / "ruff.toml"),
        "--ignore-noqa", "--exit-zero", "--output-format", "concise", tree,
    ]
    shape = ["--language", "python", "--format", "jsonl", tree]
    yield "restartlint sites", [*lint, "sites", "--no-cache", *shape]
    yield "restartlint check", [*lint, "check", "--no-cache", "--fail-on", "never", *shape]
    # The unmeasured run fills the cache.
    kept = ["--cache-dir", args.cache_dir]
    yield "restartlint check, again", [*lint, "check", *kept, "--fail-on", "never", *shape]


def run(command):
    """Wall time in seconds and the child's largest resident set in MiB."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        sys.exit(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    return wall, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("restartlint")
    parser.add_argument("trees", nargs="+")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--ruff", default="ruff")
    parser.add_argument("--rg", default="rg")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as args.cache_dir:
        table(args)


def table(args):
    print("| tree | tool | seconds | MiB | ÷ ruff |")
    print("|---|---|---|---|---|")
    for tree in args.trees:
        commands = list(tools(args, tree))
        for _, command in commands:
            run(command)
        measured = {name: [] for name, _ in commands}
        for _ in range(args.runs):
            for name, command in commands:
                measured[name].append(run(command))
        medians = {name: statistics.median(w for w, _ in runs) for name, runs in measured.items()}
        ruff = medians["ruff, two rules"]
        for name, runs in measured.items():
            peak = max(m for _, m in runs)
            print(f"| {Path(tree).name} | {name} | {medians[name]:.3f} | {peak:.0f} | {medians[name] / ruff:.2f} |")


if __name__ == "__main__":
    main()
