#!/usr/bin/env python3
"""What -jv, -jp, a profile of 1,000 samples a second and a limit of time cost the programs of benches, against the limits that are set for
it: a line for each program.

    cargo build --profile dist --workspace --bins --examples
    watched.py [-n ROUNDS] [-w WAY ...] [PROGRAM ...]

The commands are those of a build in the profile dist; PERILUNE, SIGNALS and LIMITED name others. What is compared runs at the same time
on one processor, a few milliseconds each in turn, so that whatever else the machine does, or its host, concerns all of it alike; each time with
another string in memory, and behind a loop that is compiled to another amount of code, since where the heap and the code lie makes a difference
of its own. Compared is processor time, by the mean of the ratios;
after the sign +- stands twice its standard error. Each program is marked that is slower than the limit by more than three standard errors
(of so many comparisons some are off by more than two). The exit status is 1 if one is, or if all are too slow on average.

"none" is what a state of the embedding API takes without a limit, "time" what it takes with a limit of time that is not reached, which is
compared with that: the command's own states always look for Ctrl-C.

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
PERILUNE, SIGNALS, LIMITED = "perilune", "examples/signals", "examples/limited"
# The command, its options, the limit, and what a program is compared with.
WAYS = {
    "-jv": (PERILUNE, ["-jv=" + os.devnull], 1.02, None),
    "-jp": (PERILUNE, ["-jp=f," + os.devnull], 1.03, None),
    "signals": (SIGNALS, [], math.inf, None),
    "1 kHz": (PERILUNE, ["profile", "--hz", "1000", "--folded", "-o", os.devnull], 1.05, "signals"),
    "none": (LIMITED, ["none"], math.inf, None),
    "time": (LIMITED, ["time"], 1.04, "none"),
}


def processor_times(commands, errors):
    """Of commands that run at the same time, in seconds."""
    children = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors) for command in commands]
    times = []
    for child in children:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        times.append(usage.ru_utime + usage.ru_stime)
    if any(child.returncode for child in children):
        errors.seek(0)
        sys.exit(f"{' or '.join(child.args[0] for child in children if child.returncode)} has failed\n{errors.read().decode()}")
    return times


def ratio(times, others):
    """Of the first times to those of other commands in the same rounds: the mean of its logarithm, with its standard error."""
    logs = [math.log(t / o) for t, o in zip(times, others)]
    return statistics.mean(logs), statistics.stdev(logs) / math.sqrt(len(logs))


def measure(target, program, ways, rounds, work):
    """Seconds, and for each way the ratios to what is not watched, and to what it is compared with."""
    path, moved = PROGRAMS / f"{program}.lua", work / "moved.lua"
    commands = {None: [command(target, PERILUNE)]} | {way: [command(target, name), *options] for way, (name, options, *_) in ways.items()}
    times = {way: [] for way in commands}
    for _ in range(rounds):
        moved.write_text(
            f"MOVED, arg = ('x'):rep({random.randrange(60000)}), {{ [0] = [[{path}]] }}\n"
            f"local x = 0 for i = 1, 200 do x = x + i {'x = x % 7.5 + i ' * random.randrange(20)} end\n"
            "dofile(arg[0])\n"
        )
        order = random.sample(list(commands), len(commands))
        with open(work / "errors", "w+b") as errors:
            for way, time in zip(order, processor_times([[*commands[way], str(moved)] for way in order], errors)):
                times[way].append(time)
    return statistics.mean(times[None]), {
        way: (ratio(times[way], times[None]), ratio(times[way], times[against if against in times else None]))
        for way, (*_, against) in ways.items()
    }


def command(target, name):
    variable = {PERILUNE: "PERILUNE", SIGNALS: "SIGNALS", LIMITED: "LIMITED"}[name]
    return os.environ.get(variable, str(pathlib.Path(target) / "dist" / name))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", "--rounds", type=int, default=12, help="how often each program runs in each way: 12 times, at least 2")
    parser.add_argument("-w", "--way", action="append", choices=list(WAYS), help="by default all")
    parser.add_argument("programs", nargs="*", default=sorted(p.stem for p in PROGRAMS.glob("*.lua")))
    args = parser.parse_args()
    target = os.environ.get("CARGO_TARGET_DIR", HERE.parent.parent / "target")
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as work:
        ways = {way: WAYS[way] for way in args.way or WAYS}
        sys.exit(1 if compare(target, args.programs, ways, max(2, args.rounds), pathlib.Path(work)) else 0)


def percent(logarithm):
    return 100 * math.expm1(logarithm)


def compare(target, programs, ways, rounds, work):
    """Is a limit passed?"""
    all_of, failed = {way: [] for way in ways}, False
    for program in programs:
        plain, watched = measure(target, program, ways, rounds, work)
        line = f"{program:13} {plain:6.3f} s"
        for way, (_, _, limit, against) in ways.items():
            (in_all, error), (more, inexact) = watched[way]
            all_of[way].append(in_all)
            over = more - 3 * inexact > math.log(limit)
            failed |= over
            line += f"   {way} {percent(in_all):+5.1f} % +-{percent(2 * error):4.1f}"
            if against in ways:
                line += f" ({percent(more):+.1f} % +-{percent(2 * inexact):.1f} to {against})"
            line += " TOO SLOW" if over else ""
        print(line, flush=True)
    for way, (_, _, limit, _) in ways.items():
        mean = statistics.mean(all_of[way])
        failed |= mean > math.log(limit)
        print(f"{way} on average {percent(mean):+.1f} %" + (f" (limit {100 * (limit - 1):.0f} %)" if limit < math.inf else ""))
    return failed


main()
