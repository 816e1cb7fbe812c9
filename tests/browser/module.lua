local module = {}
function module.square(n) return n * n end
return module
