-- Check-ins as fast as they are answered. The tokens are lines of equal length in a file.
--
--   wrk … -s check-ins.lua URL -- FILE REPORT THREADS FROM COUNT MODE MOST
--
-- The COUNT tokens starting at number FROM are divided among the THREADS. In the mode `again`, a thread that has used
-- all its tokens starts over; in the mode `once` it stops, and only the time until then counts. A thread also stops
-- after MOST requests.

local LENGTH = 27
local BLOCK = 4096

local clock = dofile(debug.getinfo(1, "S").source:match("^@(.*/)") .. "clock.lua")

local made = {}

function setup(thread)
  thread:set("number", #made)
  table.insert(made, thread)
end

local file, first, last, at, mode, most, host, block, position
local asked = 0

local function fill()
  local wanted = math.min(BLOCK, last - at)
  file:seek("set", at * LENGTH)
  block = file:read(wanted * LENGTH)
  position = 0
end

function init(args)
  report = args[2]
  local threads, from, count = tonumber(args[3]), tonumber(args[4]), tonumber(args[5])
  mode, most = args[6], tonumber(args[7])
  file = assert(io.open(args[1], "rb"))
  first = from + math.floor(number * count / threads)
  last = from + math.floor((number + 1) * count / threads)
  at = first
  host = wrk.host
  if wrk.port then host = host .. ":" .. wrk.port end
  fill()
end

-- wrk itself counts all the time that it was given, even after its threads have nothing left to do.
began, ended = 0, 0

local function stop()
  if ended == 0 then ended = clock.monotonic() end
  wrk.thread:stop()
end

function request()
  if began == 0 then began = clock.monotonic() end
  asked = asked + 1
  if asked > most then stop() end
  if position * LENGTH >= #block then
    at = at + #block / LENGTH
    if at >= last then
      if mode == "once" then stop() end
      at = first
    end
    fill()
  end
  local from = position * LENGTH + 1
  position = position + 1
  local token = block:sub(from, from + LENGTH - 2)
  return "GET /c/" .. token .. " HTTP/1.1\r\nHost: " .. host .. "\r\n\r\n"
end

-- The longest of all threads.
local function duration(summary)
  local longest = 0
  for _, thread in ipairs(made) do
    local from, to = thread:get("began"), thread:get("ended")
    longest = math.max(longest, to == 0 and summary.duration or to - from)
  end
  return longest
end

function done(summary, latency)
  local errors = summary.errors
  local out = assert(io.open(made[1]:get("report"), "w"))
  out:write(string.format(
    '{"requests": %d, "microseconds": %d, "p50": %d, "p99": %d, "slowest": %d, "busy": %.3f, "failed": %d, "refused": %d}\n',
    summary.requests, duration(summary), latency:percentile(50), latency:percentile(99), latency.max,
    os.clock() / (duration(summary) / 1e6) / #made,
    errors.connect + errors.read + errors.write + errors.timeout, errors.status))
  out:close()
end
