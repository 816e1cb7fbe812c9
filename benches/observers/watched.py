#!/usr/bin/env python3
"""What -jv and -jp cost the programs of benches, against the limits that are set for it: a line for each program.

    watched.py [-n RUNS] [PROGRAM ...]

PERILUNE is the command, by default that of a release build. The runs of each program take turns, each with another string in memory, since
where the heap lies makes a difference of its own. Compared are the means of the faster halves, as processor time; after the sign +-
stands twice the standard error. The exit status is 1 if a program is slower than the limit by more than that, or all are on average.
"""

import argparse
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = HERE.parent / "programs"
WAYS = {"-jv": (["-jv=" + os.devnull], 1.02), "-jp": (["-jp=f," + os.devnull], 1.03)}


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


def measure(perilune, program, runs):
    """Seconds without, and for each way the ratio with its error."""
    ways = [[]] + [options for options, _ in WAYS.values()]
    times = [[] for _ in ways]
    for _ in range(runs):
        layout = ["-e", f"MOVED = ('x'):rep({random.randrange(60000)})"]
        for i in random.sample(range(len(ways)), len(ways)):
            times[i].append(processor_time([perilune, *layout, *ways[i], str(PROGRAMS / f"{program}.lua")]))
    plain, error = faster_half(times[0])
    watched = [faster_half(t) for t in times[1:]]
    return plain, [(mean / plain, 2 * math.sqrt(error + e)) for mean, e in watched]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", "--runs", type=int, default=12)
    parser.add_argument("programs", nargs="*", default=sorted(p.stem for p in PROGRAMS.glob("*.lua")))
    args = parser.parse_args()
    target = os.environ.get("CARGO_TARGET_DIR", HERE.parent.parent / "target")
    perilune = os.environ.get("PERILUNE", str(pathlib.Path(target) / "release" / "perilune"))
    ratios, failed = {way: [] for way in WAYS}, False
    for program in args.programs:
        plain, watched = measure(perilune, program, args.runs)
        line = f"{program:13} {plain:6.3f} s"
        for (way, (_, limit)), (ratio, error) in zip(WAYS.items(), watched):
            ratios[way].append(ratio)
            over = ratio - error > limit
            failed |= over
            line += f"   {way} {100 * (ratio - 1):+5.1f} % +-{100 * error:4.1f}{' TOO SLOW' if over else '         '}"
        print(line.rstrip(), flush=True)
    for way, (_, limit) in WAYS.items():
        mean = statistics.geometric_mean(ratios[way])
        failed |= mean > limit
        print(f"{way} on average {100 * (mean - 1):+.1f} % (limit {100 * (limit - 1):.0f} %)")
    sys.exit(1 if failed else 0)


main()
