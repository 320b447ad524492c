-- Requests at a steady rate. Each is timed from when it should have been made. One connection for each thread.
--
--   wrk -t N -c N … -s paced.lua URL -- PATHS REPORT RATE
--
-- The paths are lines of a file. A request that is late because the previous answer was late counts from the moment at
-- which it should have been made: otherwise a server that stands still would get fewer requests just then.

local clock = dofile(debug.getinfo(1, "S").source:match("^@(.*/)") .. "clock.lua")

-- Milliseconds since the epoch.
local function now()
  return clock.sinceTheEpoch() / 1000
end

local made = {}

function setup(thread)
  thread:set("number", #made)
  table.insert(made, thread)
end

local interval, due, begun, paths, turn

-- For each answer, the instant at which its request should have been made and the milliseconds until it arrived.
instants, latencies, wrong = {}, {}, 0

function init(args)
  report = args[2]
  paths = {}
  for path in io.lines(args[1]) do table.insert(paths, path) end
  local threads = tonumber(args[4])
  interval = 1000 * threads / tonumber(args[3])
  turn = number * math.floor(#paths / threads)
  due = now() + interval * number / threads
end

function delay()
  return math.max(0, math.ceil(due - now()))
end

function request()
  local instant = now()
  -- A timer that fires late is not the server's fault: if the connection was idle, the time counts from the request.
  begun = behind and due or instant
  turn = turn + 1
  return wrk.format("GET", paths[turn % #paths + 1])
end

function response(status)
  local instant = now()
  table.insert(instants, begun)
  table.insert(latencies, instant - begun)
  if status >= 400 then wrong = wrong + 1 end
  due = due + interval
  behind = due < instant
end

function done(summary)
  local out = assert(io.open(made[1]:get("report"), "w"))
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.timeout
  for _, thread in ipairs(made) do
    local at, took = thread:get("instants"), thread:get("latencies")
    failed = failed + thread:get("wrong")
    for index = 1, #at do out:write(string.format("%.3f %.3f\n", at[index], took[index])) end
  end
  out:write(string.format("failed %d\n", failed))
  out:close()
end
