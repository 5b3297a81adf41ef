"""How long rows wait at an operator before their batch begins."""


def wait_s(
    since_trigger_s: float | None,
    left_rows: float,
    arrival_rows_per_s: float,
    since_event_s: float | None,
) -> float:
    """Wait of a batch's median row here, delay upstream not counted.

    What a batch takes in came since the trigger before it, so its median row waited half of
    that time; rows that it leaves behind have arrived since, at the rate of arrivals. No row
    waits here longer than since its event, which is all that is known of a first batch.

    >>> wait_s(10.0, 0.0, 50.0, None), wait_s(10.0, 200.0, 50.0, None)
    (5.0, 9.0)
    >>> wait_s(10.0, 0.0, 50.0, since_event_s=90.0), wait_s(None, 0.0, 50.0, 2.0)
    (5.0, 2.0)
    """
    if since_trigger_s is None:
        return since_event_s or 0.0
    behind_s = left_rows / arrival_rows_per_s if left_rows > 0 and arrival_rows_per_s > 0 else 0.0
    here_s = since_trigger_s / 2.0 + behind_s
    return here_s if since_event_s is None else min(here_s, since_event_s)
