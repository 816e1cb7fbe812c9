-- linkedlist: singly linked lists built, reversed, sorted by merging, filtered and summed.
-- Stresses: chasing pointers through table fields, allocation, writes of references (the barrier).
-- small: 1
local n = tonumber(arg and arg[1]) or 45

local LENGTH = 20000

local seed = 2024
local function random(limit)
  seed = seed * 16807 % 2147483647
  return seed % limit
end

local function build(length)
  local list
  for _ = 1, length do list = { value = random(100000), next = list } end
  return list
end

local function reverse(list)
  local out
  while list do
    list.next, out, list = out, list, list.next
  end
  return out
end

local function merge(a, b)
  local head = {}
  local tail = head
  while a and b do
    if a.value <= b.value then
      tail.next = a
      a = a.next
    else
      tail.next = b
      b = b.next
    end
    tail = tail.next
  end
  tail.next = a or b
  return head.next
end

local function sort(list)
  if not list or not list.next then return list end
  local slow, fast = list, list.next
  while fast and fast.next do
    slow, fast = slow.next, fast.next.next
  end
  local second = slow.next
  slow.next = nil
  return merge(sort(list), sort(second))
end

local function without_multiples(list, of)
  local head = { next = list }
  local before = head
  while before.next do
    if before.next.value % of == 0 then
      before.next = before.next.next
    else
      before = before.next
    end
  end
  return head.next
end

local function fingerprint(list)
  local check, length = 0, 0
  while list do
    check = (check * 33 + list.value) % 16777213
    length = length + 1
    list = list.next
  end
  return check, length
end

local total, kept = 0, 0
for _ = 1, n do
  local list = reverse(build(LENGTH))
  list = without_multiples(sort(list), 3)
  local check, length = fingerprint(reverse(list))
  total = (total + check) % 16777213
  kept = kept + length
end
print(string.format("check %d kept %d", total, kept))
