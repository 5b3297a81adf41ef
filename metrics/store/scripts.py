"""What has to happen in Redis at once: one Lua script each, with its keys and arguments."""

# Prefix of the scripts that write to the audit trail before they act, so that both happen or
# neither. If it returns something, the script returns that: -1 asks for a new seal, because
# somebody else wrote to the trail meanwhile; anything else is an error.
TELL = """
local function tell(trail, length, number, entry)
  local added = redis.pcall('XADD', trail, 'MAXLEN', '~', length, number .. '-0', 'e', entry)
  if type(added) ~= 'table' or not added.err then return nil end
  if string.find(added.err, 'equal or smaller', 1, true) then return -1 end
  return added
end
"""

# KEYS: the command's hash, the cluster's open set, the log of commands, the audit trail.
# ARGV: id, command, result, time of issue, seconds to keep, length of the log, signature, number of
# the audit entry ('' for none), entry, length of the trail.
# An agent sees a command whole or not at all; the same id twice is one command. A log that takes
# nothing any more (somebody gave it its last possible id, or another type) begins anew: it is for show.
SUBMIT = (
    TELL
    + """
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
if ARGV[8] ~= '' then
  local failed = tell(KEYS[4], ARGV[10], ARGV[8], ARGV[9])
  if failed then return failed end
end
redis.call('HSET', KEYS[1], 'command', ARGV[2], 'result', ARGV[3], 'status', 'pending',
  'signature', ARGV[7])
redis.call('EXPIRE', KEYS[1], ARGV[5])
redis.call('ZADD', KEYS[2], ARGV[4], ARGV[1])
local logged = redis.pcall('XADD', KEYS[3], 'MAXLEN', '~', ARGV[6], '*', 'id', ARGV[1])
if type(logged) == 'table' and logged.err then
  redis.call('DEL', KEYS[3])
  redis.call('XADD', KEYS[3], '*', 'id', ARGV[1])
end
return 1
"""
)

# KEYS: the audit trail. ARGV: the first number that is none. Entries from there on are not Weir's;
# they go, so that numbers go on after the last that is.
STRAY = """
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], ARGV[1] .. '-0', '+')) do
  redis.call('XDEL', KEYS[1], entry[1])
end
local left = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
redis.call('XSETID', KEYS[1], left[1] and left[1][1] or '0-0')
return 1
"""

# KEYS: a series, the newest of all clusters, the series' briefs. ARGV: time of the report in ms,
# report, oldest to keep in ms, seconds to keep the series, the cluster ('' where it is not the newest
# that counts), ms that a time may lie ahead of this clock, brief ('' for none), bytes of briefs from
# which on the older half goes. Answers 1; 0 for a period that is there or earlier than one
# that is; -1 for one ahead. Entries ahead that came by another door go, and with them the last id:
# else no report would be taken until that time has come.
APPEND = """
local time = redis.call('TIME')
local limit = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[6]
if tonumber(ARGV[1]) > limit then return -1 end
local function add()
  return redis.pcall('XADD', KEYS[1], 'MINID', '~', ARGV[3], ARGV[1] .. '-0', 's', ARGV[2])
end
local function late(added)
  return type(added) == 'table' and added.err and string.find(added.err, 'equal or smaller', 1, true)
end
local added = add()
if late(added) then
  local info, last = redis.call('XINFO', 'STREAM', KEYS[1]), ''
  for i = 1, #info, 2 do
    if info[i] == 'last-generated-id' then last = info[i + 1] end
  end
  if tonumber(string.match(last, '^%d+')) <= limit then return 0 end
  local from = string.format('%.0f', limit + 1)
  for _, entry in ipairs(redis.call('XRANGE', KEYS[1], from, '+')) do
    redis.call('XDEL', KEYS[1], entry[1])
  end
  local left = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
  redis.call('XSETID', KEYS[1], left[1] and left[1][1] or '0-0')
  added = add()
  if late(added) then return 0 end
end
if type(added) == 'table' and added.err then return added end
redis.call('EXPIRE', KEYS[1], ARGV[4])
if ARGV[5] ~= '' then redis.call('HSET', KEYS[2], ARGV[5], ARGV[2]) end
if ARGV[7] ~= '' then
  local length = redis.pcall('APPEND', KEYS[3], ARGV[7] .. '\\n')
  if type(length) == 'number' then
    if length > tonumber(ARGV[8]) then
      local kept = redis.call('GETRANGE', KEYS[3], math.floor(length / 2), -1)
      redis.call('SET', KEYS[3], string.sub(kept, string.find(kept, '\\n', 1, true) + 1))
    end
    redis.call('EXPIRE', KEYS[3], ARGV[4])
  end
end
return 1
"""

# KEYS: the command's hash. ARGV: holder, now, take over (1/0). Claims a command once; it
# may be claimed again by the same holder, or by one who knows that the last one is dead.
CLAIM = """
local status = redis.call('HGET', KEYS[1], 'status')
local holder = redis.call('HGET', KEYS[1], 'holder')
if status == 'pending' or (status == 'running' and (holder == ARGV[1] or ARGV[3] == '1')) then
  redis.call('HSET', KEYS[1], 'status', 'running', 'holder', ARGV[1], 'claimed_at', ARGV[2])
  return 1
end
return 0
"""

# KEYS: command hash, open set. ARGV: result JSON, status, final (1/0), id.
# A final result is never replaced.
REPORT = """
local status = redis.call('HGET', KEYS[1], 'status')
if status and status ~= 'pending' and status ~= 'running' then return 0 end
redis.call('HSET', KEYS[1], 'result', ARGV[1], 'status', ARGV[2])
if ARGV[3] == '1' then redis.call('ZREM', KEYS[2], ARGV[4]) end
return 1
"""

# Prefix of the scripts about leases. What is no lease of ours (another type, or one that would
# never end) is as if it were not there. Tokens count up; where the last one cannot be read, they go on from
# the time in seconds, which none has reached by counting.
_LEASES = """
local function forget(key, timed)
  local kind = redis.call('TYPE', key).ok
  if kind == 'none' then return false end
  if kind == 'hash' and not (timed and redis.call('PTTL', key) < 0) then return false end
  redis.call('DEL', key)
  return true
end
local lost = forget(KEYS[2], false)
local function next_token(tokens, name)
  local token = not lost and redis.pcall('HINCRBY', tokens, name, 1)
  if type(token) == 'number' then return token end
  token = redis.call('TIME')[1]
  redis.call('HSET', tokens, name, token)
  return token
end
forget(KEYS[1], true)
"""

# KEYS: lease, tokens. ARGV: name, holder, ttl in ms. A holder that asks again
# keeps its token; anybody else waits until it is free and gets a larger one.
ACQUIRE = f"""{_LEASES}
local holder = redis.call('HGET', KEYS[1], 'holder')
local token
if holder == ARGV[2] then
  token = redis.call('HGET', KEYS[1], 'token')
elseif holder then
  return nil
else
  token = next_token(KEYS[2], ARGV[1])
  redis.call('HSET', KEYS[1], 'holder', ARGV[2], 'token', token)
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return tonumber(token)
"""

# KEYS: lease, tokens. ARGV: name, holder, token, ttl in ms. Only the holder of the newest token. One
# that ran out is taken up again if nobody had it since: a slow holder is not a replaced one.
RENEW = f"""{_LEASES}
local token = redis.call('HGET', KEYS[1], 'token')
if token and token ~= ARGV[3] then return 0 end
if not token then
  if redis.call('HGET', KEYS[2], ARGV[1]) ~= ARGV[3] then return 0 end
  redis.call('HSET', KEYS[1], 'holder', ARGV[2], 'token', ARGV[3])
end
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
"""

# KEYS: lease, tokens. ARGV: name, token. Its token is spent: a renewal that is under way must not
# bring back what was given back.
RELEASE = f"""{_LEASES}
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[2] then return 0 end
redis.call('DEL', KEYS[1])
next_token(KEYS[2], ARGV[1])
return 1
"""

# Whether an operator is still placed as somebody saw it ('' for not at all): a person may stop
# it while the engine moves it, and neither may undo what the other has just done. What cannot be
# read nobody saw: it may be replaced.
_SAME = """
local function same(key, operator, seen)
  local stored = redis.call('HGET', key, operator)
  if not stored then return seen == '' end
  local ok, now = pcall(cjson.decode, stored)
  if not ok or type(now) ~= 'table' or type(now.cluster) ~= 'string' then return true end
  if seen == '' then return false end
  local was = cjson.decode(seen)
  return now.cluster == was.cluster and now.wanted == was.wanted
end
"""

# KEYS: placement. ARGV: operator, its placement as it was seen, the new one.
PLACE_IF = f"""{_SAME}
if not same(KEYS[1], ARGV[1], ARGV[2]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
"""

# KEYS: the leader's lease, rebalances, placement. ARGV: the leader's token ('' for a
# person), id, rebalance, then operator, placement as it was seen and new placement of each
# change. A leader that was replaced meanwhile changes nothing.
REBALANCE = f"""{_SAME}
if ARGV[1] ~= '' and redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
for i = 4, #ARGV, 3 do
  if not same(KEYS[3], ARGV[i], ARGV[i + 1]) then return 0 end
end
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
for i = 4, #ARGV, 3 do redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 2]) end
return 1
"""

# KEYS: the leader's lease, recommendations, their times, the times of those that count, the open
# ones, their versions, the audit trail. ARGV: the leader's token ('' for a person), id, version,
# recommendation, time, open (1/0), counts (1/0), number of the audit entry ('' for none), entry,
# length of the trail.
# Compare-and-set: the version must be the stored one plus 1, or 0 for a new one; one that is no
# number is replaced.
RECOMMEND = (
    TELL
    + """
if ARGV[1] ~= '' and redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
local stored = tonumber(redis.call('HGET', KEYS[6], ARGV[2]) or '-1')
if stored and tonumber(ARGV[3]) ~= stored + 1 then return 0 end
if ARGV[8] ~= '' then
  local failed = tell(KEYS[7], ARGV[10], ARGV[8], ARGV[9])
  if failed then return failed end
end
redis.call('HSET', KEYS[2], ARGV[2], ARGV[4])
redis.call('HSET', KEYS[6], ARGV[2], ARGV[3])
redis.call('ZADD', KEYS[3], 'NX', ARGV[5], ARGV[2])
if ARGV[7] == '1' then redis.call('ZADD', KEYS[4], 'NX', ARGV[5], ARGV[2]) end
redis.call(ARGV[6] == '1' and 'SADD' or 'SREM', KEYS[5], ARGV[2])
return 1
"""
)

# KEYS: the leader's lease, the hashes that change, the audit trail. ARGV: the leader's token (''
# for a person), the number of changes, then of each the position of its hash in KEYS, the field,
# what it must hold ('*' for anything, '-' for nothing, else the SHA-1 of it), what is done (set,
# remove, or drop for the whole key) and the new value; then number of the audit entry ('' for
# none), entry, length of the trail.
# All of it happens, or nothing: 0 if somebody else has changed one of them, or leads by now.
CHANGE = (
    TELL
    + """
if ARGV[1] ~= '' and redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
local last = 2 + 5 * tonumber(ARGV[2])
for i = 3, last, 5 do
  if ARGV[i + 2] ~= '*' then
    local stored = redis.call('HGET', KEYS[tonumber(ARGV[i])], ARGV[i + 1])
    local holds = stored and redis.sha1hex(stored) or '-'
    if holds ~= ARGV[i + 2] then return 0 end
  end
end
if ARGV[last + 1] ~= '' then
  local failed = tell(KEYS[#KEYS], ARGV[last + 3], ARGV[last + 1], ARGV[last + 2])
  if failed then return failed end
end
for i = 3, last, 5 do
  local key, field, todo = KEYS[tonumber(ARGV[i])], ARGV[i + 1], ARGV[i + 3]
  if todo == 'set' then redis.call('HSET', key, field, ARGV[i + 4])
  elseif todo == 'remove' then redis.call('HDEL', key, field)
  else redis.call('DEL', key) end
end
return 1
"""
)

# KEYS: the leader's lease, a cluster's memories. ARGV: the leader's token, then of each memory
# its scaler, the SHA-1 of the memory that it follows from ('' for any) and itself. What a
# person put in place since that was read stays: it counts for more than one period's learning.
KEEP_MEMORIES = """
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
for i = 2, #ARGV, 3 do
  local stored = redis.call('HGET', KEYS[2], ARGV[i]) or ''
  if ARGV[i + 1] == '' or redis.sha1hex(stored) == ARGV[i + 1] then
    redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 2])
  end
end
return 1
"""
