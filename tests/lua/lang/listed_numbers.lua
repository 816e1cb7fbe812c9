-- Lists of numbers in table constructors, errors in them, and decimals with exponents.
local t = loadstring[[return {1, 2,-3 , 4.5,
-0.25,	7
,
8, -0, 0, 1e3, 0x10, 9.99, 123456789012345, 1234567890123456, -2147483648, 2147483648, .5, 5., 3;4, 5, "x", 6, 7, nil, 8, -9, - 10, 11--c
, 12, f and 1 or 2, 13, 14,
}]]
local r = t()
for i=1,36 do io.write(tostring(r[i])," ") end print(#r, 1/r[9])
for _,s in ipairs{"{1,2,3,x}","{1,2,3 4}","{1,2,\n\n3,,}","{1,2,\n\n3 3}","{1,2,3","{1,2,3,\n","{1,2,-,3}","{1,2,1.2.3,4}","{1,2,3,\n5 6}","{1,2,..,}", "{1,2,3,4=5}","{1,2,5..,3}"} do print(type(loadstring("return "..s,"=c")), select(2, loadstring("return "..s,"=c"))) end
for _,s in ipairs{"1e3","1E-5","1.5e10","9007199254740993e0","123456789e22","123456789e-22","1e23","5e-324",".5e1","5.e1","e5","1e","1e+","1e+5","1e999","12345678901234e22","0.1e1","-1.5e-3","1e05","1e005","0e0","-0e5","123.456e-7"} do print(s,("%.17g"):format(tonumber(s) or 0/0)) end
