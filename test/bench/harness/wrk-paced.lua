-- For wrk: creates plants at a fixed rate, whether answers come or not, and measures each from the moment at which it was to
-- be sent: a request that had to wait for a connection has waited all the same. Arguments: the token, the first id, the
-- requests a second, the seconds that do not count at the beginning, and those that count. Prints one line of JSON at the
-- end. One thread only. wrk has to run longer than both together, so that the last that count have time for their answers.

local ffi = require("ffi")
ffi.cdef([[
  typedef struct { long seconds; long nanoseconds; } timespec;
  int clock_gettime(int clock, timespec *time);
]])

local CLOCK_REALTIME = 0 -- that of wrk's own timers, which keep to whole milliseconds
local BUCKET_MS = 0.05
local BUCKETS = 200000 -- 10 s, wrk's patience

local time = ffi.new("timespec")
local head, firstId, rate, firstCounted, endCounted, startMs
local planned, sent = 0, 0

-- Global, so that `done` can ask the thread for them: answers by latency in buckets, and how many there should be.
latencies, counted = {}, 0

local function nowMs()
  ffi.C.clock_gettime(CLOCK_REALTIME, time)
  return tonumber(time.seconds) * 1000 + tonumber(time.nanoseconds) / 1e6
end

-- When a request is to be sent: evenly, rounded to wrk's milliseconds.
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

-- Asked for each connection that is free: it takes the next request, and waits until that is due. The first is not number 0
-- where wrk has asked for a request on trial.
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

-- The answer does not hold the id; the name in it does.
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
      '{"answers":%d,"failures":%d,"broken":%d,"p50Us":%d,"p99Us":%d,"p999Us":%d}\n',
      summary.requests,
      errors.status,
      -- What counts and was not answered to the end is as good as broken.
      errors.connect + errors.read + errors.write + errors.timeout + thread:get("counted") - total,
      percentileUs(counts, total, 50),
      percentileUs(counts, total, 99),
      percentileUs(counts, total, 99.9)
    )
  )
end
