-- A collection while an event handler gets a new prototype: what the parser has made so far is kept.
jit.attach(function() collectgarbage() end, "bc")
for i = 1, 100 do
  local f = assert(loadstring("local function a() local function b() return 'b" .. i .. "' end return b end return a()()"))
  assert(f() == "b" .. i)
end
print "ok"
