-- complexfft: the Fourier transform of an array of structs of two doubles.
-- Stresses: structs that do not escape, copies of structs.
-- small: 2
local n = tonumber(arg and arg[1]) or 1300
local ffi = require("ffi")
local cplx
cplx = ffi.metatype("struct { double re, im; }", {
  __add = function(a, b) return cplx(a.re + b.re, a.im + b.im) end,
  __sub = function(a, b) return cplx(a.re - b.re, a.im - b.im) end,
  __mul = function(a, b) return cplx(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re) end,
})
local array = ffi.typeof("$[?]", cplx)
local size = 4096
local x = array(size)
local function fft(v, count, sign)
  local j = 0
  for i = 0, count - 2 do
    if i < j then
      local t = cplx(v[i].re, v[i].im)
      v[i] = v[j]
      v[j] = t
    end
    local m = count / 2
    while m >= 1 and j >= m do j = j - m; m = m / 2 end
    j = j + m
  end
  local len = 2
  while len <= count do
    local angle = sign * 2 * math.pi / len
    local step = cplx(math.cos(angle), math.sin(angle))
    for start = 0, count - 1, len do
      local w = cplx(1, 0)
      for k = start, start + len / 2 - 1 do
        local even, odd = v[k], v[k + len / 2] * w
        v[k], v[k + len / 2] = even + odd, even - odd
        w = w * step
      end
    end
    len = len * 2
  end
end
for i = 0, size - 1 do x[i] = cplx(math.sin(i / 5), i % 3) end
for _ = 1, n do
  fft(x, size, 1)
  fft(x, size, -1)
  for i = 0, size - 1 do x[i].re, x[i].im = x[i].re / size, x[i].im / size end
end
print(string.format("%.6f %.6f %.6f", x[1].re, x[100].im, x[size - 1].re))
