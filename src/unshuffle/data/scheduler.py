"""Whether a Dask scheduler answers at an address; asked without Dask, which takes long to fail."""

import re
import socket
import struct
import threading
import time

from ..exceptions import SchedulerLostError
from .settings import READ

ADDRESS = re.compile(
    r"(?:(?P<protocol>\w+)://)?(?P<host>\[[0-9a-fA-F:.%]+\]|[^\s/:\[\]]+):(?P<port>\d{1,5})/?"
)
OTHER = ("inproc", "ucx", "ucxx")  # reached by other ways than a socket
SPEAKS_FIRST = ("tcp", None)  # Dask greets whoever connects; over TLS the caller starts
GREETING = 8  # bytes: the length of what follows
LONGEST_GREETING = 1 << 20


def check_scheduler(address: str, seconds: float = READ.seconds_to_connect) -> None:
    """Raise within some seconds where no scheduler answers."""
    if address.partition("://")[0] in OTHER:
        return
    found = ADDRESS.fullmatch(address)
    if found is None or int(found["port"]) > 0xFFFF:
        raise SchedulerLostError(
            f"{address!r} is no address of a scheduler, such as tcp://10.0.0.1:8786"
        )
    place = found["host"].strip("[]"), int(found["port"])
    problems: list[str] = []

    def ask() -> None:
        try:
            _ask(place, found["protocol"], seconds)
            problems.append("")
        except OSError as error:
            problems.append(error.strerror or str(error) or type(error).__name__)

    # In a thread, because nothing bounds the time that the name of a machine takes to be found.
    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(seconds)
    problem = problems[0] if problems else f"no answer within {seconds:g} s"
    if problem:
        raise SchedulerLostError(
            f"no scheduler answers at {address} ({problem}); start one with `dask scheduler` and "
            "give the address that it prints"
        )


def _ask(place: tuple[str, int], protocol: str | None, seconds: float) -> None:
    end = time.monotonic() + seconds
    with socket.create_connection(place, seconds) as connection:
        if protocol not in SPEAKS_FIRST:
            return
        heard = b""
        while len(heard) < GREETING:
            connection.settimeout(max(end - time.monotonic(), 0.01))
            more = connection.recv(GREETING - len(heard))
            if not more:
                raise ConnectionError("the connection was closed")
            heard += more
        if not 0 < struct.unpack("<Q", heard)[0] < LONGEST_GREETING:
            raise ConnectionError("what answers is not Dask")
