"""The suites: how each is run, and how its output is read. Each takes a `Run` (run.py) and gives it a result for each test."""
import os, re, shutil, subprocess
from pathlib import Path

# Tests that throw exceptions of C++ through Lua: they would end the process.
EXCEPTIONS = {"lang/index": ["catch_cpp", "catch_wrap"]}

# Tests of Tarantool with a library made of the bytecode of their `script.lua`, and the source file that `-b` writes.
BYTECODE = [
    ("lj-549-bytecode-loader", "script.c"),
    ("lj-551-bytecode-c-broken-macro", "script_c.c"),
    ("lj-551-bytecode-c-broken-macro", "script_cc.cc"),
]


def compile_library(run, source, name):
    """Compiles a C file of a suite into a library in the folder of the run."""
    include = run.here.parent.parent / "capi" / "include"
    command = [os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", "-w", "-I", include, source, "-o", run.work / name]
    subprocess.run(list(map(str, command)), check=True)


def libraries(run):
    """Where the compiled libraries are found: by `require`, and by `ffi.load`."""
    return {"LUA_CPATH": f"{run.work}/?.so;;", "LD_LIBRARY_PATH": str(run.work)}


def in_one_process(run, folder, arguments, **variables):
    """LuaJIT's runner: a line `[number/count] file --- name` in front of each test, numbers of those that failed at the end."""
    done = run.process(arguments, folder, **variables)
    last, failing, ended = None, set(), False
    names, used = {}, set()
    for line in done.output.splitlines():
        if match := re.match(r"\[ *(\d+)/\d+\] (.*)", line):
            # A few names occur several times in one file.
            last = match[2] if match[2] not in used else f"{match[2]} (number {match[1]})"
            names[match[1]] = last
            used.add(last)
        elif match := re.match(r"to run just failing tests, pass command line arguments: (.*)", line):
            failing = set(match[1].split())
        ended = ended or re.fullmatch(r"\d+ passed(, \d+ failed)?", line) is not None
    for number, name in names.items():
        run.result(name, "fails" if number in failing else "ok")
    if not ended:
        run.result(last or "(start)", status(done))


def status(done):
    """What to say of a process that ended too early."""
    if isinstance(done.status, str):
        return done.status
    lines = done.output.strip().splitlines() or ["nothing printed"]
    return f"exit status {done.status}: {lines[-1][:200]}"


def tarantool(run):
    return run.peers / "tarantool-luajit" / "test"


def init(run):
    return f"dofile[[{tarantool(run)}/luajit-test-init.lua]]"


def cleanup(run):
    in_one_process(run, run.peers / "LuaJIT-test-cleanup" / "test", ["test.lua"])


def luajit_tests(run):
    folder = run.work / "tests"
    shutil.copytree(tarantool(run) / "LuaJIT-tests", folder)
    for index, names in EXCEPTIONS.items():
        lines = (folder / index).read_text().splitlines()
        (folder / index).write_text("".join(f"{line}\n" for line in lines if line.split(".")[0] not in names))
    compile_library(run, folder / "src" / "libctest.c", "libctest.so")
    in_one_process(run, folder, ["-e", init(run), "test.lua", "+slow", "+bit", "+ffi"], **libraries(run))


def ffi_files(run):
    """The files about the FFI, of which the index lists only some: each is a program."""
    folder = run.work / "test"
    shutil.copytree(run.peers / "LuaJIT-test-cleanup" / "test", folder)
    (folder / "lib" / "clib").mkdir()
    compile_library(run, folder / "src" / "ctest.c", "ctest.so")
    shutil.copy(run.work / "ctest.so", folder / "lib" / "clib" / "ctest")
    shutil.copytree(folder / "common", folder / "lib" / "common")
    for file in sorted((folder / "lib" / "ffi").glob("*.lua")):
        if not run.wanted(file.name):
            continue
        done = run.process([file.name], file.parent, **libraries(run))
        run.result(file.name, "ok" if done.status == 0 else status(done))


def puc(run):
    folder = run.work / "tests"
    shutil.copytree(tarantool(run) / "PUC-Rio-Lua-5.1-tests", folder)
    (folder / "libs" / "P1").mkdir(parents=True, exist_ok=True)
    for part in folder.glob("*.lua"):
        if run.skipped(part.name):
            part.write_text("")
            run.result(part.name, "skip")
    done = run.process(["-e", init(run), folder / "all.lua"], folder, LUA_PATH="?;./?.lua")
    run.result("all.lua", "ok" if done.status == 0 and "final OK !!!" in done.output else status(done))


def harness(run):
    folder = tarantool(run) / "lua-Harness-tests"
    for file in sorted(folder.glob("*.t")):
        if not run.wanted(file.name):
            continue
        if run.skipped(file.name):
            run.result(file.name, "skip")
            continue
        path = f"./?.lua;{folder}/?.lua;;"
        done = run.process(["-e", init(run), "-l", "profile_luajit21", file], run.work, LUA_PATH=path)
        read_tap(run, file.name, done)


def read_tap(run, file, done):
    """A result for each assertion, and one for the file when the plan is not kept or the process fails."""
    seen, planned = 0, None
    for line in done.output.splitlines():
        if match := re.match(r"(?:lua_debug> )*(not )?ok\s+(\d+)(.*)", line):
            seen += 1
            todo = "# TODO" in line
            run.result(f"{file} {match[2]}", "skip" if todo or "# skip" in line else "ok" if not match[1] else f"fails{match[3]}")
        elif match := re.match(r"1\.\.(\d+)", line):
            planned = int(match[1])
    if planned == 0:
        run.result(file, "skip")
    elif done.status != 0 or planned != seen:
        run.result(file, f"{seen} of {planned} assertions; {status(done)}")


def tarantool_libraries(run, folder):
    """Compiles the libraries of Tarantool's tests under the names that its build files give them, and those made of bytecode."""
    for build in sorted(folder.rglob("CMakeLists.txt")):
        for name, source in re.findall(r"BuildTestCLib\((\w+) (\w+\.c)", build.read_text()):
            compile_library(run, build.parent / source, f"{name}.so")
    for test, source in BYTECODE:
        module = run.work / Path(source).with_suffix(".lua")
        shutil.copy(folder / test / "script.lua", module)
        made = subprocess.run([run.options.perilune, "-b", module, run.work / source], stderr=subprocess.DEVNULL)
        module.unlink()
        if made.returncode == 0:  # A LuaJIT beside may lack its modules for this.
            compile_library(run, run.work / source, module.with_suffix(".so").name)


def tarantool_tests(run):
    folder = tarantool(run) / "tarantool-tests"
    tarantool_libraries(run, folder)
    path = f"{folder.parent.parent}/tools/?.lua;{folder}/?.lua;{folder}/?/init.lua;;"
    for file in sorted(folder.rglob("*.test.lua")):
        name = str(file.relative_to(folder))
        if not run.wanted(name):
            continue
        if run.skipped(name):
            run.result(name, "skip")
            continue
        arguments = ["-e", f"dofile[[{run.here}/tarantool.lua]]", "-e", init(run), file]
        done = run.process(arguments, run.work, LUA_PATH=path, LUAJIT_TEST_VARDIR=str(run.work), **libraries(run))
        if done.status == 0:
            run.result(name, "skip" if re.search(r"^1\.\.0", done.output, re.M) else "ok")
        else:
            wrong = [line.strip() for line in done.output.splitlines() if line.strip().startswith("not ok")]
            run.result(name, wrong[0] if wrong and isinstance(done.status, int) else status(done))


ALL = {
    "cleanup": cleanup,
    "luajit-tests": luajit_tests,
    "ffi-files": ffi_files,
    "puc": puc,
    "lua-harness": harness,
    "tarantool-tests": tarantool_tests,
}
