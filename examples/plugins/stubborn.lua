-- A plugin that never returns: the host ends it.
function on.message()
  while true do end
end
