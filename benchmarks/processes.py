"""Processes that share the cores of one machine."""

from threadpoolctl import threadpool_limits

from unshuffle import warm_up


def prepare():
    """Compile once per process; libraries get one thread each."""
    threadpool_limits(1)
    warm_up()
