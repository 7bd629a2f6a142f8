-- Script for wrk with one thread: each request creates a plant with a new id. Arguments: the token, the first id, and
-- "ascending" or "scattered". Prints one line of JSON at the end.

local nextId, idOf, head

local HALF = 67108864 -- 2^26

-- Same function as `scattered` in ids.ts: a permutation of 52-bit numbers by a Feistel network.
local function scattered(number)
  local left, right = math.floor(number / HALF), number % HALF
  for _, factor in ipairs({ 40503001, 59654323, 48271397, 62089911 }) do
    left, right = right, (left + math.floor(right * factor / 8192)) % HALF
  end
  return left * HALF + right
end

local function ascending(number)
  return number
end

function init(args)
  nextId = tonumber(args[2])
  idOf = args[3] == "scattered" and scattered or ascending
  head = table.concat({
    "POST /plants HTTP/1.1",
    "Host: " .. wrk.host .. ":" .. wrk.port,
    "Authorization: Bearer " .. args[1],
    "Content-Type: application/json",
    "Content-Length: ",
  }, "\r\n")
end

function request()
  local id = string.format("%.0f", idOf(nextId))
  nextId = nextId + 1
  local body = '{"id":' .. id .. ',"name":"Monstera ' .. id .. '","tag":"indoor"}'
  return head .. #body .. "\r\n\r\n" .. body
end

function done(summary, latency)
  local errors = summary.errors
  io.write(
    string.format(
      '{"responses":%d,"seconds":%.6f,"failures":%d,"broken":%d,"p50Us":%d,"p99Us":%d}\n',
      summary.requests,
      summary.duration / 1e6,
      errors.status,
      errors.connect + errors.read + errors.write + errors.timeout,
      latency:percentile(50),
      latency:percentile(99)
    )
  )
end
