-- fft: radix-2 fast Fourier transform, forwards and backwards, in place on two arrays.
-- Stresses: float loops with three levels of nesting and strides, array reads and writes, int index arithmetic.
-- small: 2
local n = tonumber(arg and arg[1]) or 1600

local SIZE = 4096
local sin, pi = math.sin, math.pi

local function bit_reverse(re, im, size)
  local j = 1
  for i = 1, size - 1 do
    if i < j then
      re[i], re[j] = re[j], re[i]
      im[i], im[j] = im[j], im[i]
    end
    local half = size / 2
    while half >= 1 and j > half do
      j = j - half
      half = half / 2
    end
    j = j + half
  end
end

local function transform(re, im, size, direction)
  bit_reverse(re, im, size)
  local span = 1
  while span < size do
    local theta = direction * pi / span
    local half = sin(0.5 * theta)
    local wpr, wpi = -2 * half * half, sin(theta)
    local wr, wi = 1.0, 0.0
    for m = 1, span do
      for i = m, size, span * 2 do
        local j = i + span
        local tr = wr * re[j] - wi * im[j]
        local ti = wr * im[j] + wi * re[j]
        re[j] = re[i] - tr
        im[j] = im[i] - ti
        re[i] = re[i] + tr
        im[i] = im[i] + ti
      end
      wr, wi = wr + wr * wpr - wi * wpi, wi + wi * wpr + wr * wpi
    end
    span = span * 2
  end
  if direction < 0 then
    for i = 1, size do
      re[i] = re[i] / size
      im[i] = im[i] / size
    end
  end
end

local seed = 1234
local function random()
  seed = seed * 16807 % 2147483647
  return seed / 2147483647
end

local re, im, original = {}, {}, {}
for i = 1, SIZE do
  re[i], im[i] = random(), 0.0
  original[i] = re[i]
end

local power = 0
for _ = 1, n do
  transform(re, im, SIZE, 1)
  power = 0
  for i = 1, SIZE do power = power + re[i] * re[i] + im[i] * im[i] end
  transform(re, im, SIZE, -1)
end

local worst = 0
for i = 1, SIZE do
  local d = math.abs(re[i] - original[i])
  if d > worst then worst = d end
end
print(string.format("power %.4f error below 1e-9: %s", power, tostring(worst < 1e-9)))
