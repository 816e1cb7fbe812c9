local shapes = {}
function shapes.area(n) return n * n end
function shapes.never() return "</script><!--" end
return shapes
