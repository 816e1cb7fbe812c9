-- Matches one pattern in every way, and compares the answers.
local find, match, gmatch, gsub, sub = string.find, string.match, string.gmatch, string.gsub, string.sub

return function(subject, pattern, replacement, init)
  local ok, first, last, capture = pcall(find, subject, pattern)
  local all, n = {}, 0
  local plain = not find(pattern, "[%^%$%*%+%?%.%(%[%%%-]")
  if not ok or find(pattern, "\0", 1, true) or plain and find(pattern, ")", 1, true) then
    -- What is wrong with a pattern may lie behind what a subject comes to; and what looks like no pattern is found as it is, though a
    -- NUL ends patterns, and a parenthesis closes a capture.
    pcall(match, subject, pattern, init)
    pcall(gsub, subject, pattern, replacement)
    return
  end
  if first then
    assert(first >= 1 and last >= first - 1 and last <= #subject, "a match outside of the subject")
    local matched = match(subject, pattern)
    assert(capture ~= nil or matched == sub(subject, first, last), "find and match differ")
    assert(capture == nil or capture == matched, "find and match have other captures")
  else
    assert(match(subject, pattern) == nil, "find and match differ")
  end
  pcall(match, subject, pattern, init)
  pcall(find, subject, pattern, init, true)
  local same, count = pcall(gsub, subject, pattern, "%0")
  if same then
    local text
    text, count = gsub(subject, pattern, "%0")
    assert(text == subject, "replaced by itself it is another text")
    assert((count > 0) == (first ~= nil), "find and gsub differ")
    if sub(pattern, 1, 1) ~= "^" then
      for _ in gmatch(subject, pattern) do n = n + 1 end
      assert(n == count, "gmatch and gsub differ")
    end
    gsub(subject, pattern, function(...) all[#all + 1] = select("#", ...) return nil end)
    assert(#all == count, "gsub calls the function another number of times")
  end
  pcall(gsub, subject, pattern, replacement, 3)
  pcall(gsub, subject, pattern, { [subject] = replacement, a = 1 })
end
