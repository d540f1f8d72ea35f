"""From an address to a cluster: one that runs somewhere, or one of processes of this machine."""

from __future__ import annotations

import logging
import re
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any

from laconic.errors import ClusterError, Parameter, ParameterError

if TYPE_CHECKING:
    from distributed import Client

logger = logging.getLogger(__name__)

INSTALL = 'fits on a cluster need the package distributed: pip install "laconic[dask]"'
CONNECTING = 20.0
"""Seconds within which a scheduler has to answer, and to have a worker."""
STARTING = 120.0
"""The same for processes that are only just started, perhaps on a busy machine."""
LOCAL = {
    # a worker that hangs is ended, and another one started
    "distributed.scheduler.worker-ttl": "60s",
    # a worker may die for reasons that are not its task's; what ends all its workers is noticed all the same
    "distributed.scheduler.allowed-failures": 9,
    "distributed.comm.timeouts.connect": "20s",
    # on a busy machine, it takes a while until a worker that is lost is replaced
    "distributed.deploy.lost-worker-timeout": "120s",
    # nobody looks at these, and they take time of the processor all along
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.system-monitor.gil.enabled": False,
    # Dask has workers give memory back at once: then each array of a block of terms is made of new pages, and
    # a fit takes half as long again
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 1 << 28,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 1 << 25,
}


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Let threads that start now, and processes that they start at any time, know nothing of Ctrl-C.

    A terminal sends it to all processes. The one that fits ends the iteration that is under way, for which
    it needs its workers.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # whoever starts this process later lets interrupts through again
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _processes(n_workers: int) -> Iterator[Any]:
    """A cluster of processes of this machine."""
    import distributed

    with _interrupts_blocked():
        cluster = distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            memory_limit=0,
            silence_logs=logging.CRITICAL,
        )
    try:
        yield cluster
    finally:
        try:
            cluster.close()
        except TimeoutError:
            # What was found is no worse for it.
            logger.warning("workers were killed, and are slow to end: the machine is busy")


def _check_certificates(address: str, config: Any) -> None:
    """Say what a connection by TLS lacks, which Dask tells as an error in the program."""
    needed = ("ca-file", "client.cert", "client.key")
    missing = [name for name in needed if config.get(f"distributed.comm.tls.{name}", None) is None]
    if address.startswith("tls://") and missing:
        raise ClusterError(
            f"{address} needs certificates: name their files in Dask's configuration, as "
            + " and ".join(f"distributed.comm.tls.{name}" for name in missing)
        )


@contextmanager
def connected(address: str, settings: dict[str, Any] | None = None) -> Iterator[Client]:
    """A client of the cluster at an address.

    Parameters
    ----------
    address : str
        Of a scheduler, such as ``tcp://10.0.0.1:8786`` or ``tls://...``, or ``local:N`` for N processes of
        this machine, which end with the client. They listen on the loopback interface only.
    settings : dict, optional
        Of Dask, for a local cluster.

    Raises
    ------
    ClusterError
        If there is no scheduler, or it has no workers.
    """
    try:
        import dask
        import distributed
    except ModuleNotFoundError as error:
        raise ParameterError(Parameter("dask"), f": {INSTALL}") from error
    with ExitStack() as stack:
        local = re.fullmatch(r"local:([1-9][0-9]{0,3})", address)
        if local is None and "://" not in address:
            raise ParameterError(
                Parameter("dask", address),
                " is neither an address of a scheduler, such as tcp://10.0.0.1:8786, nor local:N for N "
                "processes of this machine",
            )
        if local is not None:
            stack.enter_context(dask.config.set({**LOCAL, **(settings or {})}))
            cluster: Any = stack.enter_context(_processes(int(local[1])))
        else:
            _check_certificates(address, dask.config)
            cluster = address
        patience = CONNECTING if local is None else STARTING
        try:
            client = stack.enter_context(distributed.Client(cluster, timeout=patience))
            client.wait_for_workers(1, timeout=patience)
        except (OSError, TimeoutError, ValueError) as error:
            raise ClusterError(
                f"there is no Dask scheduler with workers at {address} ({str(error).splitlines()[0]}): start "
                f"one, and its workers, or check the address"
            ) from error
        yield client
