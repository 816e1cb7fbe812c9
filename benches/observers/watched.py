#!/usr/bin/env python3
"""What -jv, -jp and a profile of 1,000 samples a second cost the programs of benches, against the limits that are set for it: a line for
each program.

    cargo build --release --workspace --bins --examples
    watched.py [-n RUNS] [-w WAY ...] [PROGRAM ...]

The commands are those of a release build; PERILUNE, TOOLS and SIGNALS name others. The runs of each program take turns, each with another
string in memory, since where the heap lies makes a difference of its own. Compared are the means of the fastest tenths, as processor time:
what else a machine does, or its host, makes runs slower, seldom faster. After the sign +- stands twice the standard error. Each program
is marked that is slower than the limit by more than twice that (of so many comparisons some are off by more than their error). The exit
status is 1 if one is, or if all are too slow on average.

"signals" is what 1,000 signals a second cost that nobody looks at: on a virtual machine more than looking at them. A profile is compared
with that, program by program, and its average with what it costs in all.
"""

import argparse
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = HERE.parent / "programs"
PERILUNE, TOOLS, SIGNALS = "perilune", "perilune-tools", "examples/signals"
# The command, its options, the limit, and what a program is compared with.
WAYS = {
    "-jv": (PERILUNE, ["-jv=" + os.devnull], 1.02, None),
    "-jp": (PERILUNE, ["-jp=f," + os.devnull], 1.03, None),
    "signals": (SIGNALS, [], math.inf, None),
    "1 kHz": (TOOLS, ["profile", "--hz", "1000", "--folded", "-o", os.devnull], 1.05, "signals"),
}


def processor_time(command):
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(command)} has failed\n{said.decode()}")
    return usage.ru_utime + usage.ru_stime


def fastest(times):
    """Mean of the fastest tenth, and its squared standard error relative to it (from samples of the sample)."""

    def of(times):
        return statistics.mean(sorted(times)[: max(2, len(times) // 10)])

    mean = of(times)
    return mean, statistics.variance(of(random.choices(times, k=len(times))) for _ in range(500)) / mean**2


def measure(target, program, ways, runs, moved):
    """Seconds, and for each way the time divided by that, with its relative error."""
    path = PROGRAMS / f"{program}.lua"
    commands = [[command(target, PERILUNE)]] + [[command(target, name), *options] for name, options, _, _ in ways.values()]
    times = [[] for _ in commands]
    for _ in range(runs):
        moved.write_text(f"MOVED, arg = ('x'):rep({random.randrange(60000)}), {{ [0] = [[{path}]] }}\ndofile(arg[0])\n")
        for i in random.sample(range(len(commands)), len(commands)):
            times[i].append(processor_time([*commands[i], str(moved)]))
    (plain, error), *others = map(fastest, times)
    return plain, {way: (mean / plain, 2 * math.sqrt(error + e)) for way, (mean, e) in zip(ways, others)}


def command(target, name):
    variable = {PERILUNE: "PERILUNE", TOOLS: "TOOLS", SIGNALS: "SIGNALS"}[name]
    return os.environ.get(variable, str(pathlib.Path(target) / "release" / name))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", "--runs", type=int, default=20)
    parser.add_argument("-w", "--way", action="append", choices=list(WAYS), help="by default all")
    parser.add_argument("programs", nargs="*", default=sorted(p.stem for p in PROGRAMS.glob("*.lua")))
    args = parser.parse_args()
    target = os.environ.get("CARGO_TARGET_DIR", HERE.parent.parent / "target")
    ways = {way: WAYS[way] for way in args.way or WAYS}
    with tempfile.TemporaryDirectory() as work:
        sys.exit(1 if compare(target, args.programs, ways, args.runs, pathlib.Path(work) / "moved.lua") else 0)


def compare(target, programs, ways, runs, moved):
    """Is a limit passed?"""
    ratios, failed = {way: [] for way in ways}, False
    for program in programs:
        plain, watched = measure(target, program, ways, runs, moved)
        line = f"{program:13} {plain:6.3f} s"
        for way, (_, _, limit, against) in ways.items():
            ratio, error = watched[way]
            ratios[way].append(ratio)
            least, inexact = watched.get(against, (1, 0))
            over = ratio / max(least, 1) - 2 * math.hypot(error, inexact) > limit
            failed |= over
            line += f"   {way} {100 * (ratio - 1):+5.1f} % +-{100 * error:4.1f}{' TOO SLOW' if over else ''}"
        print(line, flush=True)
    for way, (_, _, limit, _) in ways.items():
        mean = statistics.geometric_mean(ratios[way])
        failed |= mean > limit
        print(f"{way} on average {100 * (mean - 1):+.1f} %" + (f" (limit {100 * (limit - 1):.0f} %)" if limit < math.inf else ""))
    return failed


main()
