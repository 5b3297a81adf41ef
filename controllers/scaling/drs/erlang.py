"""Waiting in a queue with k servers: Erlang B, Erlang C, and GI/G/k.

Everything starts from Erlang B's recurrence B(k) = a B(k-1) / (k + a B(k-1)) with
the offered load a = lambda / mu. It has neither powers nor factorials, so it is
exact and stable for any k, where the printed sum overflows near k = 150. It also
climbs one server at a time, which is just what an allocation needs.
"""

from math import floor, inf, isfinite

_FULL = 1e-9  # a utilisation closer to 1 than this counts as 1


def erlang_b(servers: int, offered: float) -> float:
    """Share of customers that find all servers taken, where nobody waits.

    >>> round(erlang_b(10, 5.0), 6)
    0.018385
    """
    blocked = 1.0
    for k in range(1, servers + 1):
        busy = offered * blocked
        blocked = busy / (k + busy)
    return blocked


def erlang_c(servers: int, offered: float) -> float:
    """Share of customers that must wait; 1 where the servers cannot keep up.

    >>> round(erlang_c(2, 1.0), 6)
    0.333333
    """
    if offered >= servers:
        return 1.0
    return delay_probability(servers, offered, erlang_b(servers, offered))


def delay_probability(servers: int, offered: float, blocked: float) -> float:
    """Erlang C from Erlang B of the same queue."""
    return servers * blocked / (servers - offered * (1.0 - blocked))


def waiting_s(servers: int, arrivals: float, rate: float, variability: float = 1.0) -> float:
    """Mean time in the queue; infinite where the servers cannot keep up.

    `arrivals` and `rate` (of one server) per second; `variability` is (ca2 + cs2) / 2,
    half the sum of the squared coefficients of variation of the times between
    arrivals and of the service times (Allen-Cunneen); 1 is M/M/k.

    >>> waiting_s(1, 0.5, 1.0)
    1.0
    >>> waiting_s(1, 1.0, 1.0)
    inf
    """
    if arrivals <= 0.0:
        return 0.0
    offered = arrivals / rate
    if servers < least_servers(offered):
        return inf
    return variability * erlang_c(servers, offered) / (servers * rate - arrivals)


def least_servers(offered: float) -> int:
    """The fewest servers that keep up with the offered load.

    Binary fractions make 0.3 / 0.1 less than 3, and floor + 1 would then be a
    utilisation of exactly 1: values next to an integer count as that integer.

    >>> least_servers(0.3 / 0.1), least_servers(2.5), least_servers(0.0)
    (4, 3, 1)
    """
    if not isfinite(offered):
        raise ValueError("the offered load must be a number")
    return floor(offered * (1.0 + _FULL)) + 1
