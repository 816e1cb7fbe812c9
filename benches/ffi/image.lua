-- image: the example of LuaJIT's manual, grey levels of an image of RGBA pixels.
-- Stresses: an array of structs of bytes.
-- small: 2
local n = tonumber(arg and arg[1]) or 1000
local ffi = require("ffi")
ffi.cdef[[ typedef struct { uint8_t red, green, blue, alpha; } rgba_pixel; ]]
local function image_ramp_green(count)
  local img = ffi.new("rgba_pixel[?]", count)
  local f = 255 / (count - 1)
  for i = 0, count - 1 do
    img[i].green = i * f
    img[i].alpha = 255
  end
  return img
end
local function image_to_gray(img, count)
  for i = 0, count - 1 do
    local y = 0.3 * img[i].red + 0.59 * img[i].green + 0.11 * img[i].blue
    img[i].red = y; img[i].green = y; img[i].blue = y
  end
end
local count = 400 * 400
local img = image_ramp_green(count)
for _ = 1, n do image_to_gray(img, count) end
print(img[0].red, img[count / 2].green, img[count - 1].blue)
