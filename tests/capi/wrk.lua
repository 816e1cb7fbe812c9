-- A script of wrk: makes requests, looks at answers, reports at the end.
local n = 0
request = function()
  n = n + 1
  return wrk.format("GET", "/?n=" .. n, {["X-N"] = tostring(n)})
end
response = function(status) if status ~= 200 then print("script: status " .. status) end end
done = function(summary, latency)
  io.write(("script: some requests: %s errors: %d latency: %s\n"):format(tostring(summary.requests > 10), summary.errors.status,
    tostring(latency:percentile(50) > 0)))
end
