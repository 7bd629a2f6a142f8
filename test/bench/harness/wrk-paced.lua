-- Script for wrk with one thread: creates plants at a fixed rate, regardless of responses. Measures latency from the
-- scheduled time of a request, so waiting for a free connection counts. Arguments: the token, the first id, requests
-- per second, seconds of warm-up, and measured seconds. Prints one line of JSON at the end. wrk must run longer than
-- warm-up and measurement together, so that the last measured requests get responses.

local ffi = require("ffi")
ffi.cdef([[
  typedef struct { long seconds; long nanoseconds; } timespec;
  int clock_gettime(int clock, timespec *time);
]])

local CLOCK_REALTIME = 0 -- the clock of wrk's timers, which have a resolution of one millisecond
local BUCKET_MS = 0.05
local BUCKETS = 200000 -- up to 10 s, the timeout of wrk

local time = ffi.new("timespec")
local head, firstId, rate, firstCounted, endCounted, startMs
local planned, sent = 0, 0

-- Global, so that `done` can read them from the thread: responses per latency bucket, and number of measured requests.
latencies, counted = {}, 0

local function nowMs()
  ffi.C.clock_gettime(CLOCK_REALTIME, time)
  return tonumber(time.seconds) * 1000 + tonumber(time.nanoseconds) / 1e6
end

-- Returns the scheduled time of a request, rounded down to wrk's resolution.
local function dueMs(request)
  return startMs + math.floor(request * 1000 / rate)
end

function init(args)
  firstId, rate = tonumber(args[2]), tonumber(args[3])
  firstCounted = tonumber(args[4]) * rate
  counted = tonumber(args[5]) * rate
  endCounted = firstCounted + counted
  head = table.concat({
    "POST /plants HTTP/1.1",
    "Host: " .. wrk.host .. ":" .. wrk.port,
    "Authorization: Bearer " .. args[1],
    "Content-Type: application/json",
    "Content-Length: ",
  }, "\r\n")
end

-- wrk calls this for each free connection, which then waits until the next request is due. The first request may not be
-- number 0, because wrk may have called request() once to test it.
function delay()
  if not startMs then
    startMs, planned = math.floor(nowMs()) + 10, sent
  end
  local waitMs = dueMs(planned) - math.floor(nowMs())
  planned = planned + 1
  return math.max(waitMs, 0)
end

function request()
  local id = string.format("%.0f", firstId + sent)
  sent = sent + 1
  local body = '{"id":' .. id .. ',"name":"Monstera ' .. id .. '","tag":"indoor"}'
  return head .. #body .. "\r\n\r\n" .. body
end

-- The response contains the id only as part of the name.
function response(status, headers, body)
  local request = (tonumber(body:match("Monstera (%d+)")) or 0) - firstId
  if request < firstCounted or request >= endCounted then return end
  local bucket = math.max(math.min(math.ceil((nowMs() - dueMs(request)) / BUCKET_MS), BUCKETS), 1)
  latencies[bucket] = (latencies[bucket] or 0) + 1
end

function setup(newThread)
  thread = newThread
end

local function percentileUs(counts, total, percent)
  local seen = 0
  for bucket = 1, BUCKETS do
    seen = seen + (counts[bucket] or 0)
    if seen >= total * percent / 100 then return bucket * BUCKET_MS * 1000 end
  end
  return BUCKETS * BUCKET_MS * 1000
end

function done(summary)
  local counts, total = thread:get("latencies"), 0
  for _, count in pairs(counts) do
    total = total + count
  end
  local errors = summary.errors
  io.write(
    string.format(
      '{"responses":%d,"failures":%d,"broken":%d,"p50Us":%d,"p99Us":%d,"p999Us":%d}\n',
      summary.requests,
      errors.status,
      -- Measured requests without a response count as broken.
      errors.connect + errors.read + errors.write + errors.timeout + thread:get("counted") - total,
      percentileUs(counts, total, 50),
      percentileUs(counts, total, 99),
      percentileUs(counts, total, 99.9)
    )
  )
end
