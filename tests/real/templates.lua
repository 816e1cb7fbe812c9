-- etlua and lustache, two template engines.
package.path = "etlua/?.lua;lustache/src/?.lua;" .. package.path
local etlua, lustache = require("etlua"), require("lustache")
local page = etlua.compile([[
<h1><%= title %></h1>
<% for i, item in ipairs(items) do %><li class="<%- class(i) %>"><%= item.name %>: <%= ("%.2f"):format(item.price) %></li>
<% end -%>
<% if #items > 3 then %>many<% else %>few<% end %>
]])
local items = {}
for i = 1, 60 do
  items[i] = { name = "<item & " .. i .. ">", price = i * 1.25, tags = { "a" .. i, "b" .. i }, first = i == 1 }
  if i % 20 == 0 or i < 4 then
    print(page({ title = "List of " .. i, items = items, ipairs = ipairs, class = function(n) return n % 2 == 0 and "even" or "odd" end }))
  end
end
print(etlua.compile("<% for do %>"))
print(pcall(etlua.compile("line\n<%= nothing.field %>"), {}))
local template = "{{title}}{{#items}}{{#first}}first: {{/first}}{{name}} {{{name}}} [{{#tags}}{{.}},{{/tags}}]\n{{/items}}{{^none}}none{{/none}}{{! no }}{{>part}}"
for i = 1, 20 do
  local out = lustache:render(template, { title = "T" .. i, items = items, none = {}, x = { y = i } }, { part = "part {{x.y}} {{title}}" })
  if i % 10 == 0 then print(out) end
end
print(lustache:render("{{=<% %>=}}<% a %> {{a}} <%#f%>text<%/f%>", { a = "&", f = function(text) return text:upper() end }))
print(pcall(lustache.render, lustache, "{{#open}}", {}))
