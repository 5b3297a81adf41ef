"""After repeated failures a name or an address has to wait, each time longer.

An attempt is counted before the password is looked at, so that many at once are no way
around; a right password takes its count back. Unknown names are counted like known ones:
nothing tells them apart.

Many people may come from one address, that of a proxy or of an office, and anybody may fail with
somebody's name. Who has signed in from an address lately is kept out by neither there.
"""

import hashlib
import math
import time
from collections.abc import Callable

import redis
from msgspec import Struct

from weir.components.web.security.settings import SignInSettings
from weir.metrics.store import keys

KEPT_S = 86400
KNOWN_S = 30 * 86400

# KEYS: the hash of one name or address. ARGV: now, failures allowed, first lock, longest, kept.
# Says for how many ms to wait; 0 or less: may try, and the attempt is counted. Below 0: with
# it a lock of this many ms begins. What is no count or no lock of ours is as if it were not there.
ATTEMPT = """
local kind = redis.call('TYPE', KEYS[1]).ok
if kind ~= 'none' and kind ~= 'hash' then redis.call('DEL', KEYS[1]) end
local locked = tonumber(redis.call('HGET', KEYS[1], 'until') or '0') or 0
local now = tonumber(ARGV[1])
if locked > now and locked <= now + ARGV[4] then return math.ceil((locked - now) * 1000) end
local count = redis.pcall('HINCRBY', KEYS[1], 'count', 1)
if type(count) ~= 'number' then
  count = 1
  redis.call('HSET', KEYS[1], 'count', count)
end
redis.call('EXPIRE', KEYS[1], ARGV[5])
local over = count - tonumber(ARGV[2])
if over >= 0 then
  local wait = math.min(tonumber(ARGV[4]), tonumber(ARGV[3]) * 2 ^ math.min(over, 30))
  redis.call('HSET', KEYS[1], 'until', string.format('%.3f', now + wait))
  return -math.ceil(wait * 1000)
end
return 0
"""

# KEYS: the hash of the address. One attempt less.
TAKE_BACK = """
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HINCRBY', KEYS[1], 'count', -1)
redis.call('HDEL', KEYS[1], 'until')
return 1
"""


class Attempt(Struct, frozen=True, kw_only=True):
    """Whether somebody may try, in seconds."""

    wait_s: int = 0  # before the next attempt; 0: may try, and this one counts
    lock_s: int = 0  # of the lock that begins with this attempt, unless it succeeds


class Lockout:
    """Counts failed sign-ins by name and by address."""

    def __init__(
        self,
        client: redis.Redis,
        settings: SignInSettings,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._client = client
        self._attempt = client.register_script(ATTEMPT)
        self._take_back = client.register_script(TAKE_BACK)

    def attempt(self, name: str, address: str) -> Attempt:
        """Count an attempt, unless one has to wait."""
        settings = self._settings
        if self._is_known(name, address):
            return self._count("pair", _both(name, address), settings.failures_user)
        by_address = self._count("address", address, settings.failures_address)
        if by_address.wait_s:
            return by_address
        by_name = self._count("user", name, settings.failures_user)
        return Attempt(wait_s=by_name.wait_s, lock_s=max(by_address.lock_s, by_name.lock_s))

    def note_success(self, name: str, address: str) -> None:
        """It was the right password."""
        if name:
            self._client.delete(_key("user", name), _key("pair", _both(name, address)))
        if address and not self._is_known(name, address):  # else it was not counted
            self._take_back(keys=[_key("address", address)])
        if name and address:
            self._client.set(_pair(name, address), 1, ex=KNOWN_S)

    def _is_known(self, name: str, address: str) -> bool:
        """Whether somebody has signed in from an address lately. What others fail with there, or
        under that name elsewhere, is not theirs; their own failures are counted apart."""
        return bool(name and address and self._client.exists(_pair(name, address)))

    def _count(self, kind: str, name: str, allowed: int) -> Attempt:
        if not name:
            return Attempt()
        settings = self._settings
        said_ms = self._attempt(
            keys=[_key(kind, name)],
            args=[self._clock(), allowed, settings.lock_s, settings.lock_most_s, KEPT_S],
        )
        said_s = math.ceil(abs(int(said_ms)) / 1000)
        return Attempt(wait_s=said_s) if said_ms > 0 else Attempt(lock_s=said_s)


def _pair(name: str, address: str) -> str:
    return _key("known", _both(name, address))


def _both(name: str, address: str) -> str:
    return f"{name} {address}"


def _key(kind: str, name: str) -> str:
    return keys.failures(kind, hashlib.sha256(name.encode()).hexdigest()[:32])
