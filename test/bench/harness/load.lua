-- Script for wrk with one thread: each request creates a plant with a new id. Prints one line of JSON at the end.
-- Arguments: the token, the first id, and "ascending" or "scattered". Three further ones make the load an open loop,
-- which sends at a fixed rate regardless of responses: requests per second, seconds of warm-up, and measured seconds.
-- An open loop measures latency from the scheduled time of a request, so waiting for a free connection counts. wrk must
-- run longer than warm-up and measurement together, so that the last measured requests get responses.

local HALF = 67108864 -- 2^26
local BUCKET_MS = 0.05
local BUCKETS = 200000 -- up to 10 s, the timeout of wrk

local head, firstId, idOf
local sent = 0

-- Same function as `scattered` in bulk.ts: a permutation of 52-bit numbers by a Feistel network.
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

-- Defines the functions with which wrk keeps a rate. They are global, like the results that `done` reads from the
-- thread: responses per latency bucket, and number of measured requests.
local function openLoop(rate, warmUpSeconds, seconds)
  local ffi = require("ffi")
  ffi.cdef([[
    typedef struct { long seconds; long nanoseconds; } timespec;
    int clock_gettime(int clock, timespec *time);
  ]])
  local CLOCK_REALTIME = 0 -- the clock of wrk's timers, which have a resolution of one millisecond
  local time = ffi.new("timespec")
  local startMs
  local planned = 0
  local firstCounted = warmUpSeconds * rate
  latencies, counted = {}, seconds * rate

  local function nowMs()
    ffi.C.clock_gettime(CLOCK_REALTIME, time)
    return tonumber(time.seconds) * 1000 + tonumber(time.nanoseconds) / 1e6
  end

  -- Returns the scheduled time of a request, rounded down to wrk's resolution.
  local function dueMs(request)
    return startMs + math.floor(request * 1000 / rate)
  end

  -- wrk calls this for each free connection, which then waits until the next request is due. The first request may not
  -- be number 0, because wrk may have called request() once to test it.
  function delay()
    if not startMs then
      startMs, planned = math.floor(nowMs()) + 10, sent
    end
    local waitMs = dueMs(planned) - math.floor(nowMs())
    planned = planned + 1
    return math.max(waitMs, 0)
  end

  -- The response contains the id only as part of the name.
  function response(status, headers, body)
    local request = (tonumber(body:match("Monstera (%d+)")) or 0) - firstId
    if request < firstCounted or request >= firstCounted + counted then return end
    local bucket = math.max(math.min(math.ceil((nowMs() - dueMs(request)) / BUCKET_MS), BUCKETS), 1)
    latencies[bucket] = (latencies[bucket] or 0) + 1
  end
end

function setup(newThread)
  thread = newThread
end

function init(args)
  firstId, idOf = tonumber(args[2]), args[3] == "scattered" and scattered or ascending
  head = table.concat({
    "POST /plants HTTP/1.1",
    "Host: " .. wrk.host .. ":" .. wrk.port,
    "Authorization: Bearer " .. args[1],
    "Content-Type: application/json",
    "Content-Length: ",
  }, "\r\n")
  if args[4] then openLoop(tonumber(args[4]), tonumber(args[5]), tonumber(args[6])) end
end

function request()
  local id = string.format("%.0f", idOf(firstId + sent))
  sent = sent + 1
  local body = '{"id":' .. id .. ',"name":"Monstera ' .. id .. '","tag":"indoor"}'
  return head .. #body .. "\r\n\r\n" .. body
end

-- Returns a function from a percentage to the latency, and the number of measured requests without a response.
local function openLoopResults(counts, counted)
  local total = 0
  for _, count in pairs(counts) do
    total = total + count
  end
  local function percentileUs(percent)
    local seen = 0
    for bucket = 1, BUCKETS do
      seen = seen + (counts[bucket] or 0)
      if seen >= total * percent / 100 then return bucket * BUCKET_MS * 1000 end
    end
    return BUCKETS * BUCKET_MS * 1000
  end
  return percentileUs, counted - total
end

function done(summary, latency)
  local function percentileUs(percent)
    return latency:percentile(percent)
  end
  local unanswered = 0
  local counts = thread:get("latencies")
  if counts then
    percentileUs, unanswered = openLoopResults(counts, thread:get("counted"))
  end
  local errors = summary.errors
  io.write(
    string.format(
      '{"responses":%d,"failures":%d,"broken":%d,"rate":%.3f,"p50Ms":%.3f,"p99Ms":%.3f,"p999Ms":%.3f}\n',
      summary.requests,
      errors.status,
      errors.connect + errors.read + errors.write + errors.timeout + unanswered,
      summary.requests * 1e6 / summary.duration,
      percentileUs(50) / 1000,
      percentileUs(99) / 1000,
      percentileUs(99.9) / 1000
    )
  )
end
