#!/usr/bin/env python3
"""What -jv, -jp and a profile of 1,000 samples a second cost the programs of benches, against the limits that are set for it: a line for
each program.

    watched.py [-n RUNS] [-w WAY ...] [PROGRAM ...]

PERILUNE and TOOLS are the commands, by default those of a release build. The runs of each program take turns, each with another string in memory, since
where the heap lies makes a difference of its own. Compared are the means of the faster halves, as processor time; after the sign +-
stands twice the standard error. The exit status is 1 if a program is slower than the limit by more than twice that (of so many
comparisons, one in twenty is off by more than its error), or all are on average.

The profile's signals cost something even where nobody looks at them. How much that is on this machine is said as well: what a program
in C loses that counts them.
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
# The command, its options and the limit.
WAYS = {
    "-jv": ("perilune", ["-jv=" + os.devnull], 1.02),
    "-jp": ("perilune", ["-jp=f," + os.devnull], 1.03),
    "1 kHz": ("perilune-tools", ["profile", "--hz", "1000", "--folded", "-o", os.devnull], 1.05),
}


def processor_time(command):
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(command)} has failed")
    return usage.ru_utime + usage.ru_stime


def faster_half(times):
    """Mean and squared standard error, relative to it."""
    half = sorted(times)[: max(2, len(times) // 2)]
    mean = statistics.mean(half)
    return mean, statistics.variance(half) / len(half) / mean**2


def turns(commands, runs, before):
    """Seconds of the first command, and for each other the ratio with its error."""
    times = [[] for _ in commands]
    for _ in range(runs):
        before()
        for i in random.sample(range(len(commands)), len(commands)):
            times[i].append(processor_time(commands[i]))
    (plain, error), *others = map(faster_half, times)
    return plain, [(mean / plain, 2 * math.sqrt(error + e)) for mean, e in others]


def measure(target, program, ways, runs, work):
    path, moved = PROGRAMS / f"{program}.lua", work / "moved.lua"

    def move():
        moved.write_text(f"MOVED, arg = ('x'):rep({random.randrange(60000)}), {{ [0] = [[{path}]] }}\ndofile(arg[0])\n")

    commands = [[command(target, "perilune")]] + [[command(target, name), *options] for name, options, _ in ways.values()]
    return turns([[*c, str(moved)] for c in commands], runs, move)


def command(target, name):
    variable = {"perilune": "PERILUNE", "perilune-tools": "TOOLS"}[name]
    return os.environ.get(variable, str(pathlib.Path(target) / "release" / name))


def counting_in_c(runs, work):
    """What a program in C loses that counts 1,000 signals a second; None where it cannot be compiled or the kernel refuses."""
    program = work / "signals"
    try:
        subprocess.run(["cc", "-O2", "-o", program, HERE / "signals.c"], check=True)
        subprocess.run([program, "1000", "1"], check=True, stdout=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return None
    return turns([[program, hz, "400"] for hz in ("0", "1000")], runs, lambda: None)[1][0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", "--runs", type=int, default=12)
    parser.add_argument("-w", "--way", action="append", choices=list(WAYS), help="by default all")
    parser.add_argument("programs", nargs="*", default=sorted(p.stem for p in PROGRAMS.glob("*.lua")))
    args = parser.parse_args()
    target = os.environ.get("CARGO_TARGET_DIR", HERE.parent.parent / "target")
    ways = {way: WAYS[way] for way in args.way or WAYS}
    with tempfile.TemporaryDirectory() as work:
        sys.exit(1 if compare(target, args.programs, ways, args.runs, pathlib.Path(work)) else 0)


def compare(target, programs, ways, runs, work):
    """Is a limit passed?"""
    ratios, failed = {way: [] for way in ways}, False
    if "1 kHz" in ways and (lost := counting_in_c(runs, work)):
        print(f"1,000 signals a second cost a program in C that counts them {100 * (lost[0] - 1):+.1f} % +-{100 * lost[1]:.1f}", flush=True)
    for program in programs:
        plain, watched = measure(target, program, ways, runs, work)
        line = f"{program:13} {plain:6.3f} s"
        for (way, (_, _, limit)), (ratio, error) in zip(ways.items(), watched):
            ratios[way].append(ratio)
            over = ratio - 2 * error > limit
            failed |= over
            line += f"   {way} {100 * (ratio - 1):+5.1f} % +-{100 * error:4.1f}{' TOO SLOW' if over else '         '}"
        print(line.rstrip(), flush=True)
    for way, (_, _, limit) in ways.items():
        mean = statistics.geometric_mean(ratios[way])
        failed |= mean > limit
        print(f"{way} on average {100 * (mean - 1):+.1f} % (limit {100 * (limit - 1):.0f} %)")
    return failed


main()
