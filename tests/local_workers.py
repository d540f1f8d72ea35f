"""A cluster for tests in which nobody is killed: workers that talk over TCP, in this process."""

from __future__ import annotations


def two_workers():
    """A cluster of two workers with a thread each; the quickest there is."""
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=False,
        protocol="tcp",
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
    )
