[TRACE   1 small.lua:3 loop]
[TRACE   2 (1/7) small.lua:6 -> 1]
[TRACE   3 (1/2) small.lua:5 -> 1]
[TRACE   4 (3/1) small.lua:3 -> 1]
[TRACE   5 small.lua:8 stitch pcall]
[TRACE   6 (5/stitch) small.lua:10 -> 5]
487.5
