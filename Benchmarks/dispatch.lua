-- wrk script: each request dispatches an event that changes the state, to each of the sessions in turn.
--
--   wrk ... -s dispatch.lua URL -- SESSIONS EVENT [FIRST SESSION]
--
-- EVENT is the name of an event with one integer, which counts from 1 to 99 and then starts again. "touch" has no value.

local sessions, event, first
local sent = 0

function init(arguments)
  sessions = tonumber(arguments[1])
  event = arguments[2]
  first = tonumber(arguments[3] or "0")
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/json"
end

function request()
  local session = first + sent % sessions
  local value = math.floor(sent / sessions) % 99 + 1
  sent = sent + 1
  local body = event == "touch" and '"touch"' or '{"' .. event .. '":' .. value .. '}'
  return wrk.format(nil, "/v1/apps/counter/sessions/bench-" .. session .. "/events", nil, body)
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    'JSON {"requests":%d,"seconds":%.4f,"p50":%.3f,"p99":%.3f,"errors":%d}',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
