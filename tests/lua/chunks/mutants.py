#!/usr/bin/env python3
"""Broken bytecode in great numbers: it is refused, or it runs. A crash or a hang fails.

    tests/lua/chunks/mutants.py [COUNT] [--seed S] [--first N] [--batch N] [--limit SECONDS] [--keep FOLDER] [--options O]
        [PROGRAM...]

Tries COUNT mutants (default 100000) of the programs (default: seeds/, ../lang and ../jit) that `mutants.lua` makes from the seed, in one
process for each batch. Behind a crash or a hang it goes on with the next mutant; --keep has the bytes of those written into a folder,
and of those where interpreted and compiled gave something else. --options has more options of the compiler, such as
eval=1,hotloop=1. PERILUNE names the command (default target/release/perilune).
"""
import argparse, os, queue, re, signal, subprocess, sys, threading, time
from pathlib import Path

HERE = Path(__file__).resolve().parent
OPTIONS = ["--memory-limit", "256m", "-Ohotloop=2", "-Ohotexit=2"]


class Worker:
    """mutants.lua on a range of numbers, until it ends, crashes, or says nothing for too long."""

    def __init__(self, options, first, last):
        self.options, self.at = options, first
        self.name = "(before the first)"
        self.counts = None
        self.different = []
        command = [options.perilune, *OPTIONS, *options.more, "mutants.lua", str(options.seed), str(first), str(last), *options.programs]
        self.child = subprocess.Popen(command, cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.child.stdout:
            self.lines.put(line.decode(errors="replace"))
        self.lines.put(None)

    def run(self):
        """Why it ended; None if all is well."""
        while True:
            try:
                line = self.lines.get(timeout=self.options.limit)
            except queue.Empty:
                self.child.kill()
                self.child.wait()
                return f"hangs (more than {self.options.limit} s)"
            if line is None:
                break
            if match := re.fullmatch(r"(\d+) (\S+)\n", line):
                self.at, self.name = int(match[1]), match[2]
            elif match := re.match(r"(\d+) mutants, (\d+) accepted, (\d+) compared, (\d+) different", line):
                self.counts = [int(n) for n in match.groups()]
            elif line.startswith("interpreted: "):
                self.different.append(self.at)
        errors = self.child.stderr.read().decode(errors="replace").strip()
        status = self.child.wait()
        if status < 0:
            return f"crashes: {signal.Signals(-status).name} {errors[-300:]}"
        if status != 0 or not self.counts:
            return f"exit status {status}: {errors[-300:]}"
        return None


def keep(options, number, what):
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        environment = {**os.environ, "MUTANT": str(options.keep.resolve() / f"{what}-{options.seed}-{number}.bc")}
        command = [options.perilune, *OPTIONS, *options.more, "mutants.lua", str(options.seed), str(number), str(number), *options.programs]
        try:
            subprocess.run(command, cwd=HERE, env=environment, capture_output=True, timeout=options.limit, check=False)
        except subprocess.TimeoutExpired:
            pass


def default_programs():
    folders = [HERE / "seeds", HERE.parent / "lang", HERE.parent / "jit"]
    return [os.path.relpath(file, HERE) for folder in folders for file in sorted(folder.glob("*.lua"))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, nargs="?", default=100000)
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--seed", type=int, default=int(time.time()) % 1000000)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--batch", type=int, default=20000)
    parser.add_argument("--limit", type=float, default=30)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--options", default="")
    options = parser.parse_intermixed_args()
    options.more = [f"-O{option}" for option in options.options.split(",") if option]
    options.perilune = os.path.abspath(os.environ.get("PERILUNE", HERE.parents[2] / "target/release/perilune"))
    if not os.access(options.perilune, os.X_OK):
        parser.error(f"no command {options.perilune}: set PERILUNE")
    options.programs = [os.path.relpath(p, HERE) for p in options.programs] or default_programs()
    print(f"seed {options.seed}, {len(options.programs)} programs", flush=True)
    at, end, start = options.first, options.first + options.count, time.monotonic()
    bad, totals = 0, [0, 0, 0, 0]
    while at < end:
        worker = Worker(options, at, min(at + options.batch, end) - 1)
        wrong = worker.run()
        for number in worker.different:
            print(f"mutant {number}: interpreted and compiled differ", flush=True)
            keep(options, number, "different")
        if wrong:
            bad += 1
            print(f"mutant {worker.at} of {worker.name}: {wrong}", flush=True)
            keep(options, worker.at, "crash")
            totals[0] += worker.at + 1 - at
            at = worker.at + 1
            continue
        at = min(at + options.batch, end)
        totals = [a + b for a, b in zip(totals, worker.counts)]
        print(f"to {at - 1}: {totals[0] / (time.monotonic() - start):.0f} mutants a second", flush=True)
    seconds = time.monotonic() - start
    print(f"{totals[0]} mutants ({totals[1]} accepted, {totals[2]} compared, {totals[3]} different: of whole batches), {bad} crashes and hangs, {seconds:.0f} s")
    sys.exit(1 if bad else 0)


main()
