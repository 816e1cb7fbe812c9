-- Greets those who come.
local seen = {}

function on.join(user)
  seen[user.name] = (seen[user.name] or 0) + 1
  local again = seen[user.name] > 1 and " again" or ""
  host.say(("welcome%s, %s"):format(again, user.name))
end
