-- Script for wrk with one thread: each request creates a plant with a new id. Arguments: the token and the first id.
-- The last line of the output is JSON.
local head, nextId

function init(args)
  nextId = tonumber(args[2])
  head = table.concat({
    "POST /plants HTTP/1.1",
    "Host: " .. wrk.host .. ":" .. wrk.port,
    "Authorization: Bearer " .. args[1],
    "Content-Type: application/json",
    "Content-Length: ",
  }, "\r\n")
end

function request()
  local id = string.format("%.0f", nextId)
  nextId = nextId + 1
  local body = '{"id":' .. id .. ',"name":"Monstera ' .. id .. '","tag":"indoor"}'
  return head .. #body .. "\r\n\r\n" .. body
end

function done(summary)
  local errors = summary.errors
  io.write(string.format(
    '{"responses":%d,"failures":%d,"broken":%d,"rate":%.3f}\n',
    summary.requests, errors.status, errors.connect + errors.read + errors.write + errors.timeout,
    summary.requests * 1e6 / summary.duration
  ))
end
