-- The clocks of the system, in microseconds.

local ffi = require("ffi")
ffi.cdef([[
  typedef struct { long seconds; long nanoseconds; } bench_time;
  int clock_gettime(int clock, bench_time *time);
]])

local buffer = ffi.new("bench_time")

local function read(clock)
  return function()
    ffi.C.clock_gettime(clock, buffer)
    return tonumber(buffer.seconds) * 1e6 + tonumber(buffer.nanoseconds) / 1e3
  end
end

return { sinceTheEpoch = read(0), monotonic = read(1) }
