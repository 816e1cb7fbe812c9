-- ljsqlite3: a database in memory.
package.path = "../?/init.lua;../?.lua;" .. package.path
package.preload["xsys"] = package.preload["xsys"] or function()
  return { string = { trim = function(s) return s:match("^%s*(.-)%s*$") end, split = function(s, sep)
    local t = {}
    for w in (s .. sep):gmatch("(.-)" .. sep) do t[#t + 1] = w end
    return t
  end } }
end
local sql = require "ljsqlite3"
local db = sql.open("")
db:exec [[CREATE TABLE t(id TEXT, num1 REAL, n INTEGER)]]
local insert = db:prepare("INSERT INTO t VALUES(?, ?, ?)")
for i = 1, 500 do insert:reset():bind("row " .. i, i / 4, i):step() end
insert:close()
print(db:rowexec("SELECT count(*), sum(num1), max(id) FROM t"))
local result, rows = db:exec("SELECT * FROM t WHERE n <= 3 ORDER BY n")
print(rows, #result[1], result[1][3], result.num1[2], result.n[3])
db:setscalar("twice", function(x) return x * 2 end)
print(db:rowexec("SELECT twice(num1) FROM t WHERE n = 10"))
db:setaggregate("total2", function() return 0 end, function(self, x) return self + x end, function(self) return self end)
print(pcall(db.exec, db, "SELECT nonsense FROM t"))
local statement = db:prepare("SELECT n FROM t WHERE num1 > ?")
local sum = 0
statement:reset():bind(100)
local row = statement:step({})
while row do
  sum = sum + tonumber(row[1])
  row = statement:step(row)
end
statement:close()
db:close()
print(sum)
