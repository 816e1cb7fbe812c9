#!/usr/bin/env python3
"""Speed of random programs, beside LuaJIT's: benches/random/speed.py [--seeds FROM-TO] [--seconds S] [--luajit CMD] [--ours CMD]

Nobody has written these programs, so nothing can have been made for them. Each is made from its seed: functions, classes that inherit from one
another, and up to three loops over numbers, strings, tables, objects, metamethods, closures, coroutines and cdata, with branches of all
frequencies. `prelude.lua` has what they use. Each runs so often that LuaJIT's interpreter takes S seconds (0.35 by default), and must print
the same with all engines.

A line for each program that takes more than 1.25 of the better of LuaJIT's modes, or more than 1.1 of our own interpreter; at the end the
geometric means. It fails where outputs differ. Times are user and system time of one run.
"""
import argparse, math, os, random, resource, subprocess, sys, tempfile
from pathlib import Path

PRELUDE = (Path(__file__).parent / "prelude.lua").read_text()
METHODS = [
    "return (self.v or 0) + (a or 0) % 3", "return self.v % 5", "self.c = (self.c or 0) + 1 return self.c % 7", "return (a or 1) * 0.5",
    "if (a or 0) > 3 then return 2 end return self.v",
]
FUNCTIONS = [
    "return pa + {last}", "if pa > 20 then return {last} % 13 end return pa * 2",
    "local t = 0 for q = 1, 4 do t = t + {last} % 10 * q end return t", "local t = {{ pa, {last} }} return t[1] + #t",
    "return math.floor(pa / 3) + i % 4",
]
# In all of these, @n, @s and @c stand for a number, a string and a condition, @d for a digit, and @b for a block.
NUMBERS = [
    "n", "k", "i", "rec.x", "rec.y", "arr[i % #arr + 1]", "obj.v", "@d", "0.5", "1.25", "recs[i % #recs + 1].w",
    "(@n + @n)", "(@n - @n)", "(@n * @n)", "(@n % 1@d)", "math.floor(@n)", "math.max(@n, @n)", "math.abs(@n)", "#st", "#arr", "#recs",
    "string.byte(st, i % #st + 1)", "bit.band(i, 2@d)", "bit.bxor(k, @d)", "obj:get(@n)", "obj:calc(@n)", "obj:val(@n)", "@call",
    "(tonumber(@s) or 1)",
]
SIMPLE_NUMBERS = 11
STRINGS = [
    "st", '"ab"', "rec.name", "tostring(i)", '"k" .. (i % 7)', "(@s .. @s):sub(1, 12)", "st:sub(2, @d)",
    'string.format("%d:%s", i % 10, @s):sub(1, 12)', "(@s):upper()", '((@s):gsub("%a", "x", 1))', '((@s):match("%w+") or "z")',
]
SIMPLE_STRINGS = 5
CONDITIONS = [
    "i % @d == 0", "i % 1@d == 1", "@n < @n", "not (@n > @n)", "rnd(@d) == 1", "st == @s", "rec.flag", 'recs[i % #recs + 1].kind == "a"',
]
STATEMENTS = [
    "n = (@n) % 1000", "k = math.floor(@n) % 100003", 'st = @s if #st < 2 then st = "ab" end', "arr[i % #arr + 1] = @n % 50", "rec.x = (@n) % 97",
    "rec.y = (@n) % 97", "rec.flag = @c", "obj = objs[i % #objs + 1]", "obj:set(@n)",
    "local tmp = { @n, @n, name = @s } n = (n + tmp[1] + #tmp.name) % 1000",
    "list[#list + 1] = @n if #list > 20 then table.remove(list, 1) n = (n + list[1] % 7) % 1000 end",
    "list[#list + 1] = @n if #list > 20 then table.remove(list, #list) n = (n + list[1] % 7) % 1000 end",
    "local f = function(a) return a + @n end n = (f(n) + f(1)) % 1000",
    "local ok, e = pcall(function(a) if a % 5 == 0 then error(a, 0) end return a end, i) n = (n + (ok and e % 7 or 1)) % 1000",
    'n = (n + (select("#", va(@n, @n, i)) + select(2, va(1, i)))) % 1000', "for v in gen(@d % 4 + 2) do n = (n + v) % 1000 end",
    "map[k % 50] = i", "map[i % 30] = n", "map[st] = i", "n = (n + (map[k % 50] or 1)) % 1000", "n = (n + (map[st] or 1)) % 1000",
    'local parts = {} for j = 1, 5 do parts[j] = @s end st = table.concat(parts):sub(1, 9) if #st < 2 then st = "cd" end',
    'recs[i % #recs + 1] = { kind = @c and "a" or "b", w = i % 9 }', "n = (n + (V(@n, 2) + V(i, @n)).x) % 1000",
    "n = (n + (V(@n, 2) * V(i, @n) - V(1, 1)).x) % 1000", "if V(1, i) <= V(i % 3, @n) or V(@n, 1) == V(1, 2) then n = n + 1 end",
    "n = (n + computed[i % 10] + computed.q + computed[st]) % 1000", "proxy.a = i n = (n + proxy.b + proxy.a) % 1000",
    "n = (n + callable(@n)) % 1000", 'for w in (@s .. " a b"):gmatch("%S+") do n = (n + #w) % 1000 end',
    'n = (n + ((@s):find("%d+") or 0)) % 1000', 'n = (n + ((@s):find("b", 1, true) or 0)) % 1000', 'st = ("xy"):rep(i % 4 + 1) .. i % 10',
    "do local q = { first = 1, last = 0 } for j = 1, 6 do q.last = q.last + 1 q[q.last] = j * i end "
    "while q.first <= q.last do n = (n + q[q.first] % 5) % 1000 q[q.first] = nil q.first = q.first + 1 end end",
    "do local head for j = 1, @d do head = { v = j + i % 3, next = head } end while head do n = (n + head.v) % 1000 head = head.next end end",
    "n = (n + tree(i % @d)) % 1000", "n = (n + fib(i % @d)) % 1000", "n = (n + memo(i % 3@d)) % 1000",
    "do local c = counter() for j = 1, @d do n = (n + c()) % 1000 end end",
    "if i % 1@d == 0 then local t = {} for j = 1, 12 do t[j] = (j * 7 + i) % 13 end table.sort(t, function(a, b) return a > b end) n = (n + t[3]) % 1000 end",
    "do local h = 0 for j = 1, #st do h = bit.bxor(bit.lshift(h, 5), st:byte(j), bit.rshift(h, 2)) end k = h % 100003 end",
    "do local a, b = @n, @n a, b = b, a n = (n + a * 2 - b) % 1000 end",
    "mat[i % 8 + 1][k % 8 + 1] = @n % 50 n = (n + mat[k % 8 + 1][i % 8 + 1]) % 1000",
    "for y = 1, 4 do local row = mat[y] for x = 1, 4 do row[x] = (row[x] + i) % 50 end end",
    "local u1, u2, u3 = va(@n, i, k) n = (n + u1 + (u2 or 0) + (u3 or 0)) % 1000", "n = (n + sum(i, @n, k)) % 1000", "rec[keys[i % 3 + 1]] = i % 50",
    'for key, v in pairs(rec) do if type(v) == "number" then n = (n + v) % 1000 end end', 'n = (n + select("#", unpack(arr, 1, i % 6))) % 1000',
    'buf[#buf + 1] = @s if #buf > 8 then st = table.concat(buf, ","):sub(3, 11) buf = {} end', "n = (n + co(i)) % 1000",
    "S.a = i % 100 S.b = S.b * 0.5 + S.a n = (n + S.b) % 1000", "I[i % 64] = k n = (n + I[k % 64]) % 1000",
]
NESTED = [
    "if @c then\n@b end", "if @c then\n@b else\n@b end", "if @c then\n@b else\n@b end", "for j = 1, 3 do local i = i + j\n@b end",
    "for j = 1, 20 do local i = i + j\n@b end", "for j = 1, i % 5 do local i = i + j\n@b end", "for _, q in ipairs(recs) do local i = i + q.w\n@b end",
    "local w = i % 1@d while w > 0 do w = w - 1 local i = i + w\n@b if @c then break end end",
]


class Program:
    """A program of random parts."""

    def __init__(self, seed):
        self.random, self.functions = random.Random(seed), []

    def fill(self, text, depth, level):
        """`text` with its placeholders replaced; `depth` of the expression, `level` of the statement."""
        out, rest = "", text
        while "@" in rest:
            before, rest = rest.split("@", 1)
            kind, rest = ("call", rest[4:]) if rest.startswith("call") else (rest[0], rest[1:])
            out += before + self.part(kind, depth, level)
        return out + rest

    def part(self, kind, depth, level):
        pick = self.random.choice
        if kind == "d":
            return str(self.random.randint(2, 9))
        if kind == "b":
            return self.block(level + 1)
        if kind == "call":
            if not self.functions:
                return "1"
            name, count = pick(self.functions)
            return f"{name}({', '.join(self.part('n', depth + 1, level) for _ in range(count))})"
        if kind == "c":
            return self.fill(pick(CONDITIONS), 1, level)
        choices, simple = (NUMBERS, SIMPLE_NUMBERS) if kind == "n" else (STRINGS, SIMPLE_STRINGS)
        is_simple = depth > 2 or self.random.random() < 0.35
        return self.fill(pick(choices[:simple] if is_simple else choices), depth + 1, level)

    def block(self, level):
        count = self.random.randint(1, 3 if level else 7)
        kinds = [NESTED if level < 3 and self.random.random() < 0.3 else STATEMENTS for _ in range(count)]
        return "".join("  " * (level + 2) + self.fill(self.random.choice(kind), 0, level) + "\n" for kind in kinds)

    def text(self):
        pick, between = self.random.choice, self.random.randint
        out = PRELUDE
        for c in range(between(1, 4)):
            parent = "Base" if c == 0 or self.random.random() < 0.5 else f"C{c - 1}"
            out += f"local C{c} = setmetatable({{}}, {{ __index = {parent} }}) C{c}.__index = C{c}\n"
            for method in ("get", "calc", "val"):
                if self.random.random() < 0.6:
                    out += f"function C{c}:{method}(a) {pick(METHODS)} end\n"
            out += f"objs[#objs + 1] = setmetatable({{ v = {c} }}, C{c}) objs[#objs + 1] = setmetatable({{ v = {c}.5, z = 1 }}, C{c})\n"
        out += "obj = objs[1]\n"
        for f in range(between(1, 5)):
            names = ["pa", "pb", "pc"][: between(1, 3)]
            out += f"local function f{f}({', '.join(names)}) {pick(FUNCTIONS).format(last=names[-1])} end\n"
            self.functions.append((f"f{f}", len(names)))
        loops = range(between(1, 3))
        for b in loops:
            out += f"local function loop{b}(m)\n  for q = 1, m do\n    i = q\n{self.block(0)}  end\nend\n"
        out += f"for _ = 1, N do {' '.join(f'loop{b}(50)' for b in loops)} end\n"
        return out + 'print(("%.6f %d %s"):format(n, k, st))\n'


def run(command, limit=60):
    """Processor time, and what was printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(command, capture_output=True, timeout=limit)
        output = (done.returncode, done.stdout)
    except subprocess.TimeoutExpired:
        output = (None, b"")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, output


def measure(path, seconds, engines):
    """The times with each engine, without and with its compiler, and whether all have printed the same; `None` if the program fails."""
    times = 20
    while True:
        took, output = run([engines[0], "-joff", path, str(times)])
        if output[0] != 0:
            return None
        if took > 0.1:
            break
        times *= 4
    times = max(5, int(times * seconds / took))
    results = [run([e, *mode, path, str(times)]) for e in engines for mode in (["-joff"], [])]
    return [max(took, 0.001) for took, _ in results], len({output for _, output in results}) == 1


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="1-100")
    parser.add_argument("--seconds", type=float, default=0.35)
    parser.add_argument("--luajit", default="luajit")
    parser.add_argument("--ours", default="target/release/perilune")
    parser.add_argument("--keep", metavar="FOLDER", help="write the programs there")
    args = parser.parse_args()
    first, last = (int(part) for part in args.seeds.split("-"))
    folder = Path(args.keep or tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    better, interpreted, compiled, differ, failed = [], [], [], [], []
    for seed in range(first, last + 1):
        path = str(folder / f"{seed}.lua")
        Path(path).write_text(Program(seed).text())
        measured = measure(path, args.seconds, [args.luajit, args.ours])
        if measured is None:
            failed.append(seed)
            continue
        (their_off, theirs, our_off, ours), same = measured
        better.append(ours / min(theirs, their_off))
        interpreted.append(our_off / their_off)
        compiled.append(ours / our_off)
        if not same:
            differ.append(seed)
        if better[-1] > 1.25 or compiled[-1] > 1.1 or not same:
            print(f"{seed:6}  {ours:.2f} s, interpreted {our_off:.2f}; LuaJIT {theirs:.2f}, interpreted {their_off:.2f}"
                  f"{'' if same else '  PRINTED DIFFERENTLY'}", flush=True)
        if not args.keep:
            os.unlink(path)
    if better:
        print(f"{len(better)} programs: {mean(better):.2f} of the better of LuaJIT's modes, interpreters {mean(interpreted):.2f}, "
              f"compiler on / off {mean(compiled):.2f}; {sum(r > 1.25 for r in better)} above 1.25, {sum(r > 1.1 for r in compiled)} above 1.1 of our own interpreter")
    if failed:
        print("do not run in LuaJIT:", *failed)
    return 1 if differ or failed else 0


if __name__ == "__main__":
    sys.exit(main())
