# Lua in Python: values, functions and errors both ways, coroutines, states in threads and one state that several threads use in turn.
import lupa
from lupa import LuaRuntime
lua = LuaRuntime(unpack_returned_tuples=True)
print(lupa.LUA_VERSION)
print(lua.eval('1 + 1'), lua.eval('python.eval(" 2 ** 2 ") == 4'), lua.eval('"a".."b"'))
f = lua.eval('function(f, n) return f(n) end')
print(f(lambda n: n * 3, 14))
t = lua.table(1, 2, 3, a=4)
print(len(t), sorted((str(k), v) for k, v in t.items()), t.a)
co = lua.eval('coroutine.create(function(n) for i = 1, n do coroutine.yield(i * i) end end)')
print(list(co(5)))
try:
    lua.execute('error("from Lua")')
except lupa.LuaError as e: print('caught', e)
def raises(): raise ValueError("from Python")
try:
    lua.eval('function(f) f() end')(raises)
except Exception as e: print(type(e).__name__, e)
try:
    print(lua.eval('function(f) return pcall(f) end')(raises))
except Exception as e: print(type(e).__name__, e)
print(lua.eval('function(l) local n = 0 for x in python.iter(l) do n = n + x end return n end')(range(101)))
print(lua.eval('function() local s = 0 for i = 1, 1000 do s = s + i end return s end')())
try: lua.compile("syntax error here")
except lupa.LuaSyntaxError as e: print(e)
import threading
def work():
    l = LuaRuntime(); out.append(l.eval('(function() local s = 0 for i = 1, 100000 do s = s + i end return s end)()'))
out = []
ts = [threading.Thread(target=work) for _ in range(4)]
[x.start() for x in ts]; [x.join() for x in ts]; print(out)
shared = lua.eval('function(n) local s = 0 for i = 1, n do s = s + i end return s end')
def use(): out.append(shared(1000))
ts = [threading.Thread(target=use) for _ in range(4)]
[x.start() for x in ts]; [x.join() for x in ts]; print(out[4:])
