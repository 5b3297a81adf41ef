"""What has to happen in Redis at once: one Lua script each, with its keys and arguments."""

# KEYS: the command's hash, the cluster's open set, the log of commands.
# ARGV: id, command, result, time of issue, seconds to keep, length of the log.
# An agent sees a command whole or not at all; the same id twice is one command.
SUBMIT = """
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], 'command', ARGV[2], 'result', ARGV[3], 'status', 'pending')
redis.call('EXPIRE', KEYS[1], ARGV[5])
redis.call('ZADD', KEYS[2], ARGV[4], ARGV[1])
redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[6], '*', 'id', ARGV[1])
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

# KEYS: lease, tokens. ARGV: name, holder, ttl in ms. A holder that asks again
# keeps its token; anybody else waits until it is free and gets a larger one.
ACQUIRE = """
local holder = redis.call('HGET', KEYS[1], 'holder')
local token
if holder == ARGV[2] then
  token = redis.call('HGET', KEYS[1], 'token')
elseif holder then
  return nil
else
  token = redis.call('HINCRBY', KEYS[2], ARGV[1], 1)
  redis.call('HSET', KEYS[1], 'holder', ARGV[2], 'token', token)
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return tonumber(token)
"""

# KEYS: lease. ARGV: token, ttl in ms (0 releases). Only the holder of that token.
RENEW = """
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
if ARGV[2] == '0' then redis.call('DEL', KEYS[1]) else redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 1
"""


# KEYS: the leader's lease, rebalances, placement. ARGV: the leader's token ('' for a
# person), id, rebalance, then operator and placement of each change. A leader that was
# replaced meanwhile changes nothing.
REBALANCE = """
if ARGV[1] ~= '' and redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
for i = 4, #ARGV, 2 do redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 1]) end
return 1
"""
