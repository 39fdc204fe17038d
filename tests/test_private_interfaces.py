"""Private interfaces of other packages that lib uses: a version without one fails here first."""

from multiprocessing import forkserver

import cloudpickle
import numba
from numba.core.caching import FunctionCache


def test_the_server_that_forks_processes_can_be_forgotten():
    """Without these a forked process would use or restart a server that is not its child."""
    server = forkserver._forkserver
    for name in ("_forkserver_address", "_forkserver_alive_fd", "_forkserver_pid"):
        assert hasattr(server, name)
    assert callable(server.ensure_running)


def test_classes_that_were_sent_can_be_forgotten():
    """Without this a trial could get an older class of the same notebook."""
    for name in ("_DYNAMIC_CLASS_TRACKER_BY_ID", "_DYNAMIC_CLASS_TRACKER_BY_CLASS"):
        assert hasattr(getattr(cloudpickle.cloudpickle, name), "clear")


def test_a_kernel_can_be_given_a_cache_of_its_own():
    """Without this machine code would outlive the source of the kernels that it calls."""
    kernel = numba.njit(lambda x: x)
    assert hasattr(kernel, "_cache")
    for name in ("load_overload", "save_overload"):
        assert callable(getattr(FunctionCache, name))
    assert hasattr(numba.config, "CACHE_DIR")
    assert hasattr(numba.config, "CACHE_LOCATOR_CLASSES")
