"""A process that does nothing until it is ended."""

import signal

if __name__ == "__main__":
    signal.pause()
