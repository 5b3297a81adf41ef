"""An engine whose planners hang, as a process: prints why it holds back, ends on SIGTERM."""

import sys
import threading
import time

from tests.unit.controllers.engine.engine_world import World
from weir.pipeline.engine.planning import Planning
from weir.pipeline.engine.process import Engine
from weir.pipeline.engine.start import run_until_told

STUCK = (sys.executable, "-m", "tests.unit.pipeline.engine.stuck_worker")


def main() -> None:
    """Time in the world is real time here."""
    world = World(a={"hang": 0.6, "count": 0.5}, b={"top": 0.1})

    def live() -> None:
        while True:
            world.tick(time.time() - world.now)
            view = world.store.outlook()
            lease = world.store.lease("engine")
            print(bool(lease), view.wait if view else "", flush=True)
            time.sleep(0.3)

    threading.Thread(target=live, daemon=True).start()
    run_until_told(Engine(world.store, planning=Planning(STUCK)))
    print("ended", flush=True)


if __name__ == "__main__":
    main()
