-- A stack of names: what a program says it is doing, for `-jp=z`. `zone("name")` enters a zone, `zone()` leaves it.
return setmetatable({
  -- The innermost zone.
  get = function(self) return self[#self] end,
  -- Leaves all.
  flush = function(self)
    for i = #self, 1, -1 do self[i] = nil end
  end,
}, {
  __call = function(self, name)
    if not name then return (assert(table.remove(self), "empty zone stack")) end
    self[#self + 1] = name
  end,
})
