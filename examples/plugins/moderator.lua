-- Counts words, and has a mistake: messages without text are not expected.
local MOST = 6

function on.message(message)
  local words = select(2, message.text:gsub("%S+", ""))
  if words > MOST then
    host.say(("%s, at most %d words"):format(message.from, MOST))
    return "drop"
  end
end
