-- LuaUnit runs a suite with passes, failures and errors, in three formats.
local tree = "deb/usr/share/lua/5.1/"
package.path = tree .. "?.lua;" .. package.path
local lu = require("luaunit")
TestNumbers = {}
function TestNumbers:setUp() self.n = 5 end
function TestNumbers:testEqual() lu.assertEquals(self.n, 5) end
function TestNumbers:testNotEqual() lu.assertEquals(self.n, 6) end
function TestNumbers:testAlmost() lu.assertAlmostEquals(0.1 + 0.2, 0.3, 1e-12) end
function TestNumbers:testNaN() lu.assertNaN(0 / 0) end
TestTables = {}
function TestTables:testDeep() lu.assertEquals({ 1, { a = { 2, 3 } } }, { 1, { a = { 2, 3 } } }) end
function TestTables:testDeepFails() lu.assertEquals({ 1, { a = { 2, 3 } }, 5, 6, 7, 8, 9, 10, 11, 12, 13 }, { 1, { a = { 2, 4 } }, 5, 6, 7, 8, 9, 10, 11, 12, 14 }) end
function TestTables:testItems() lu.assertItemsEquals({ 3, 1, 2 }, { 1, 2, 3 }) end
TestErrors = {}
function TestErrors:testError() lu.assertErrorMsgContains("attempt to index", function() local t = nil; return t.x end) end
function TestErrors:testRaises() error("on purpose", 0) end
function TestErrors:testSkip() lu.skip("not today") end
function TestErrors:testStrings() lu.assertStrMatches("hello", "h.*x") end
for i = 1, 40 do TestNumbers["testMany" .. i] = function() lu.assertTrue(i % 13 ~= 0) end end
for _, format in ipairs { "text", "tap", "nil" } do
  local out, write, print_ = {}, io.stdout.write, print
  local runner = lu.LuaUnit.new()
  runner:setOutputType(format)
  local failed = runner:runSuite("-v")
  print(format, failed, runner.result.successCount, runner.result.failureCount, runner.result.errorCount)
end
