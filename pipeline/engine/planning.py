"""Planning in a process of its own: a planner that hangs costs neither the lease nor SIGTERM.

    engine -> Ask -> worker -> Begun(planner) ... -> Answer -> engine

The engine asks, goes on, and collects the answer in a later cycle; it is for the problem as
it was asked. A worker that is at one planner for too long is killed and another one started;
that planner is left out for a while. Messages are msgpack behind their length.
"""

import contextlib
import os
import queue
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import IO

import msgspec
from msgspec import Struct
from msgspec.structs import replace

import weir
from weir.controllers.balancing.base import Deadline, Remaining, planners
from weir.controllers.balancing.milp import MilpSettings
from weir.controllers.balancing.problem import Problem
from weir.controllers.engine.propose.outlook import Outlook, outlook, warm_up

COMMAND = (sys.executable, "-m", "weir.pipeline.engine.planning")
EXACT_S = 0.2  # for a planner to solve a small problem to the end
PLANNER_S = 1.0  # for any other; then it answers with what it has
LATE_S = 5.0  # without a sign of life, people are told
KILL_S = 30.0
WARM_S = 300.0  # a worker may compile before its first plan
LEFT_OUT_S = 600.0
RESTART_S = 5.0
_NO_PROBLEM = Problem(bins=(), items=())


class PlanningRequest(Struct, frozen=True, kw_only=True):
    """A look at the balance that the engine wants."""

    problem: Problem
    at: float
    chosen: str
    auto: bool
    turn: int
    left_out: dict[str, str] = {}


class Begun(Struct, frozen=True, tag="begun"):
    """The worker is at this planner now; at none when it has just become ready."""

    planner: str = ""


class PlanningAnswer(Struct, frozen=True, kw_only=True, tag="answer"):
    """The view that was asked for, and the CPU time it took."""

    view: Outlook
    cpu_s: float


_asks = msgspec.msgpack.Decoder(PlanningRequest)
_tellings = msgspec.msgpack.Decoder(Begun | PlanningAnswer)


def unplanned_outlook(ask: PlanningRequest, words: str, before: Outlook | None) -> Outlook:
    """The balance while no planner answers: `words` say why."""
    left_out = dict.fromkeys(planners(), words)
    return outlook(
        ask.problem,
        ask.at,
        wait=words,
        chosen=ask.chosen,
        auto=ask.auto,
        before=before,
        left_out=left_out,
    )


class Planning:
    """The engine's side: one worker, asked at most one thing at a time."""

    def __init__(
        self,
        command: Sequence[str] = COMMAND,
        *,
        kill_s: float = KILL_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._command, self._kill_s, self._clock = command, kill_s, clock
        self._worker: _Worker | None = None
        self._asked: PlanningRequest | None = None
        self._heard_at = 0.0
        self._planner = ""
        self._start_at = 0.0
        self._failed = ""
        self._left_out: dict[str, tuple[float, str]] = {}

    @property
    def words(self) -> str:
        """Why no plan comes at the moment; empty if all is well."""
        silent_s = self._clock() - self._heard_at
        if self._worker is None or not self._worker.ready:
            return self._failed or "the planners are being loaded"
        if self._asked is not None and silent_s > LATE_S:
            return f"planning is late: {self._who} has been at it for {silent_s:.0f} s"
        return self._failed

    @property
    def free(self) -> bool:
        """Whether a question would be taken."""
        return self._worker is not None and self._worker.ready and self._asked is None

    @property
    def left_out(self) -> dict[str, str]:
        """Planners that hung lately, and what became of them."""
        now = self._clock()
        return {name: why for name, (until, why) in self._left_out.items() if until > now}

    def ask(self, ask: PlanningRequest) -> None:
        """Hand a question over, if the worker is free."""
        if self._worker is None or not self.free:
            return
        self._asked, self._heard_at, self._planner = ask, self._clock(), ""
        self._worker.send(msgspec.msgpack.encode(ask))

    def collect(self) -> PlanningAnswer | None:
        """The answer if it has come; also replaces a worker that is late, dead or missing."""
        now = self._clock()
        if self._worker is None:
            self._start(now)
            return None
        told = self._worker.listen()
        while told is not None:
            self._heard_at = now
            if isinstance(told, PlanningAnswer):
                return self._handle_answer(told)
            self._planner = told.planner
            told = self._worker.listen()
        limit_s = self._kill_s if self._worker.ready else WARM_S
        at_work = self._asked is not None or not self._worker.ready
        if self._worker.ended:
            by = f" by {self._who}" if self._planner else ""
            self._give_up(now, f"the planning process was ended{by}")
        elif at_work and now - self._heard_at > limit_s:
            self._give_up(now, f"{self._who} was stopped after {limit_s:.0f} s")
        return None

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.kill()
            self._worker = None

    @property
    def _who(self) -> str:
        kind = planners().get(self._planner)
        return kind.label or self._planner if kind else self._planner or "the worker"

    def _start(self, now: float) -> None:
        if now < self._start_at:
            return
        self._start_at = now + RESTART_S
        try:
            self._worker = _Worker(self._command)
        except OSError as error:
            self._failed = f"the planning process cannot start: {error}"
        self._heard_at = now

    def _handle_answer(self, answer: PlanningAnswer) -> PlanningAnswer:
        assert self._asked is not None
        problem, self._asked, self._failed = self._asked.problem, None, ""
        self._planner = ""
        return replace(answer, view=replace(answer.view, problem=problem))

    def _give_up(self, now: float, why: str) -> None:
        self.close()
        self._failed = f"{why}; planning begins again"
        if self._asked is not None and self._planner:
            self._left_out[self._planner] = (now + LEFT_OUT_S, why)
        self._asked, self._planner, self._start_at = None, "", now + RESTART_S


class _Worker:
    """The process, and a thread that writes and reads so that nobody else waits for a pipe."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, cwd=weir.ROOT
        )
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._inbox: queue.SimpleQueue[Begun | PlanningAnswer] = queue.SimpleQueue()
        self.ready = self._broken = False
        self._thread = threading.Thread(target=self._exchange, name="weir-planning", daemon=True)
        self._thread.start()

    @property
    def ended(self) -> bool:
        """It died, or what it says makes no sense."""
        return self._broken or self._process.poll() is not None

    def send(self, data: bytes) -> None:
        self._outbox.put(data)

    def listen(self) -> Begun | PlanningAnswer | None:
        try:
            return self._inbox.get_nowait()
        except queue.Empty:
            return None

    def kill(self) -> None:
        self._process.kill()
        self._outbox.put(None)
        self._process.wait()
        self._thread.join()

    def _exchange(self) -> None:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        # A dead worker's pipe breaks; a garbled message is the work of a worker gone wrong.
        with stdin, stdout, contextlib.suppress(OSError, EOFError, msgspec.MsgspecError):
            _tellings.decode(_read(stdout))
            self.ready = True
            while (data := self._outbox.get()) is not None:
                _write(stdin, data)
                told: Begun | PlanningAnswer = Begun()
                while not isinstance(told, PlanningAnswer):
                    told = _tellings.decode(_read(stdout))
                    self._inbox.put(told)
        self._broken = True


def _write(pipe: IO[bytes], data: bytes) -> None:
    left = memoryview(struct.pack("<Q", len(data)) + data)
    while left:
        left = left[pipe.write(left) :]
    pipe.flush()


def _read(pipe: IO[bytes]) -> bytes:
    (length,) = struct.unpack("<Q", _exactly(pipe, 8))
    return _exactly(pipe, length)


def _exactly(pipe: IO[bytes], length: int) -> bytes:
    found = bytearray()
    while len(found) < length:
        part = pipe.read(min(length - len(found), 1 << 20))
        if not part:
            raise EOFError
        found += part
    return bytes(found)


def serve(asks: IO[bytes], tellings: IO[bytes], kill_s: float = KILL_S) -> None:
    """The worker: answer until there is nobody left to ask."""
    warm_up()
    _write(tellings, msgspec.msgpack.encode(Begun()))
    last: Outlook | None = None
    while True:
        try:
            ask = _asks.decode(_read(asks))
        except EOFError:
            return
        spent = time.process_time()
        small = len(ask.problem.items) * len(ask.problem.bins) <= MilpSettings().exact

        def allow(name: str, small: bool = small) -> Remaining:
            # The system ends a worker that hangs even if its engine is gone.
            signal.alarm(round(kill_s) + 10)
            _write(tellings, msgspec.msgpack.encode(Begun(name)))
            return _countdown(EXACT_S) if small else Deadline(_countdown(PLANNER_S))

        view = outlook(
            ask.problem,
            ask.at,
            wait="",
            chosen=ask.chosen,
            auto=ask.auto,
            before=last,
            turn=ask.turn,
            allow=allow,
            left_out=ask.left_out,
        )
        signal.alarm(0)
        last = replace(view, distance=())
        bare = replace(view, problem=_NO_PROBLEM)  # the caller has it
        answer = PlanningAnswer(view=bare, cpu_s=time.process_time() - spent)
        _write(tellings, msgspec.msgpack.encode(answer))


def _countdown(seconds: float) -> Remaining:
    ends = time.monotonic() + seconds
    return lambda: ends - time.monotonic()


def main() -> None:
    """Talk over stdin and stdout; what a planner prints goes to stderr instead."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with open(os.dup(1), "wb", buffering=0) as tellings:
        os.dup2(2, 1)
        with contextlib.suppress(BrokenPipeError):  # the engine has ended, for reasons of its own
            serve(sys.stdin.buffer, tellings)


if __name__ == "__main__":
    main()
