#!/usr/bin/env python3
"""Public test suites against a build: tests/suites/run.py FOLDER [suite...]

FOLDER holds checkouts of public repositories: `LuaJIT-test-cleanup` (LuaJIT/LuaJIT-test-cleanup) and `tarantool-luajit`
(tarantool/luajit). Nothing is written there. PERILUNE names the command (default target/release/perilune).

Each suite runs in each mode of MODES. `expected.txt` beside this script lists what is expected to fail and what is not run, with
reasons; whatever else fails, hangs or crashes fails this command, and so does what is listed and passes.

    --modes a,b     these modes only                 --jobs N    so many suites at a time (default 1)
    --limit S       seconds for one process          --keep DIR  keep the output of each process there
    --only PART     tarantool-tests, ffi-files and lua-harness: files whose name contains PART
    --beside CMD    a LuaJIT: a line with what it passes, and what it fails, in front of those of the suites
"""
import argparse, concurrent.futures, os, resource, shutil, signal, subprocess, sys, tempfile, time
from collections import namedtuple
from pathlib import Path

sys.dont_write_bytecode = True
import suites  # noqa: E402

HERE = Path(__file__).resolve().parent
EARLY = ["-Ohotloop=1", "-Ohotexit=1", "-Ohottree=1"]
MODES = {
    "joff": ["-joff"],
    "default": [],
    "hot1": EARLY,
    "hot2": ["-Ohotloop=2", "-Ohotexit=2"],
    "hot3": ["-Ohotloop=3", "-Ohotexit=3"],
    "gcstress": EARLY + ["-Ogcstress=3000"],
    "eval": EARLY + ["-Oeval=1"],
    "exits": EARLY + ["-Oexitof=3", "-Oexitat=1", "-Oexitevery=2"],
}
# Address space of one process, in bytes: some tests take all that there is.
MEMORY = 8 << 30
# What the command reads: a suite does not see what whoever runs it has set.
VARIABLES = ["LUA_PATH", "LUA_CPATH", "LUA_INIT", "LUAJIT_VERBOSEFILE", "LUAJIT_DUMPFILE", "LUAJIT_LISTFILE", "LUAJIT_PROFILEFILE", "PERILUNE_LOG"]

Done = namedtuple("Done", "status output")
Entry = namedtuple("Entry", "suite modes name kind reason")


class Run:
    """One suite in one mode: runs processes and says what came of each of its tests."""

    def __init__(self, options, suite, mode):
        self.options, self.suite, self.mode = options, suite, mode
        self.peers, self.here = options.folder, HERE
        self.results = {}
        self.processes = 0
        self.work = Path(tempfile.mkdtemp(prefix="suites-"))

    def skipped(self, name):
        """Does the list say that this is not run?"""
        return any(e.kind == "skip" and e.name == name for e in self.entries())

    def entries(self):
        """What the list says about this suite and mode."""
        return [e for e in self.options.expected if e.suite == self.suite and (e.modes == ["*"] or self.mode in e.modes)]

    def wanted(self, name):
        return self.options.only in name

    def result(self, name, what):
        """`what` is "ok", "skip", or why it failed."""
        self.results[name] = what

    def process(self, arguments, folder, **variables):
        """Runs the command; its status ("hangs" after the time limit), and what it printed."""
        environment = {k: v for k, v in os.environ.items() if k not in VARIABLES}
        environment.update(variables, TERM="dumb")
        command = [self.options.perilune, *MODES[self.mode], *map(str, arguments)]
        self.processes += 1
        log = (self.options.keep or self.work) / f"{self.suite}-{self.mode}-{self.processes}.txt"
        with open(log, "wb") as out:
            child = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out,
                                     stderr=subprocess.STDOUT, start_new_session=True,
                                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)))
            try:
                status = child.wait(self.options.limit)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
                status = f"hangs: still running after {self.options.limit} s"
        if isinstance(status, int) and status < 0:
            status = f"crashes: {signal.Signals(-status).name}"
        return Done(status, log.read_text(errors="replace"))

    def finish(self):
        shutil.rmtree(self.work, ignore_errors=True)


def read_expected(file):
    """Lines `suite | modes | kind | name | reason`."""
    entries = []
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            parts = [part.strip() for part in line.split("|", 4)]
            if len(parts) != 5 or parts[0] not in suites.ALL or parts[2] not in ("fails", "may fail", "skip"):
                sys.exit(f"{file}:{number}: not `suite | modes | fails, may fail or skip | name | reason`")
            entries.append(Entry(parts[0], parts[1].split(","), parts[3], parts[2], parts[4]))
    return entries


def judge(run):
    """Passed, failed and skipped, and a line for each result that nobody expects."""
    listed = {e.name: e for e in run.entries()}
    passed = expected = skipped = 0
    wrong = []
    for name, what in run.results.items():
        entry = listed.get(name)
        kind = entry.kind if entry else None
        if what == "skip":
            skipped += 1
        elif what == "ok" and kind == "fails":
            wrong.append(f"{name}: passes, but expected.txt says that it fails: {entry.reason}")
        elif what == "ok":
            passed += 1
        elif kind in ("fails", "may fail"):
            expected += 1
        else:
            wrong.append(f"{name}: {what}")
    if not run.options.only:
        for e in run.entries():
            if e.kind == "fails" and e.name not in run.results:
                wrong.append(f"{e.name}: expected.txt names it, but there is no such test")
    if not passed:
        wrong.append("nothing passed")
    return passed, expected, skipped, wrong


def run_one(options, suite, mode):
    """Runs a suite in a mode; how many passed and failed, and the text of the report."""
    run = Run(options, suite, mode)
    start = time.monotonic()
    try:
        suites.ALL[suite](run)
        passed, expected, skipped, wrong = judge(run)
    except OSError as problem:
        passed, expected, skipped, wrong = 0, 0, 0, [str(problem)]
    finally:
        run.finish()
    seconds = time.monotonic() - start
    text = f"{suite:16} {mode:9} {passed:5} passed {len(wrong):3} failed {expected:3} expected to fail {skipped:3} skipped {seconds:7.1f} s"
    return passed, len(wrong), "\n".join([text, *(f"    {line}" for line in wrong)])


def beside(options, suite):
    """What another command passes of a suite, as text."""
    run = Run(argparse.Namespace(**{**vars(options), "perilune": options.beside}), suite, "default")
    try:
        suites.ALL[suite](run)
    finally:
        run.finish()
    failing = [f"    {name}: {what}" for name, what in run.results.items() if what not in ("ok", "skip")]
    passed = sum(what == "ok" for what in run.results.values())
    return "\n".join([f"{suite:16} {'beside':9} {passed:5} passed {len(failing):3} failed", *failing])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("suites", nargs="*")
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=float, default=900)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--beside", type=os.path.abspath)
    options = parser.parse_intermixed_args()
    wanted, modes = options.suites or list(suites.ALL), options.modes.split(",")
    for given, known, what in ((wanted, suites.ALL, "suite"), (modes, MODES, "mode")):
        for name in given:
            if name not in known:
                parser.error(f"no {what} {name}: there are {', '.join(known)}")
    options.folder = options.folder.resolve()
    options.perilune = os.path.abspath(os.environ.get("PERILUNE", HERE.parent.parent / "target/release/perilune"))
    if not os.access(options.perilune, os.X_OK):
        parser.error(f"no command {options.perilune}: set PERILUNE")
    if options.keep:
        options.keep = options.keep.resolve()
        options.keep.mkdir(parents=True, exist_ok=True)
    options.expected = read_expected(HERE / "expected.txt")
    passed = failed = 0
    if options.beside:
        for suite in wanted:
            print(beside(options, suite), flush=True)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for result in pool.map(lambda what: run_one(options, *what), [(s, m) for s in wanted for m in modes]):
            passed, failed = passed + result[0], failed + result[1]
            print(result[2], flush=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
