"""Private interfaces of other packages that lib uses: a version without one fails here first."""

from multiprocessing import forkserver

import cloudpickle
import numba
import numpy as np
from joblib.hashing import NumpyHasher


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


def test_a_kernel_can_be_given_a_folder_of_its_own():
    """Without this machine code would outlive the source of the kernels that it calls."""
    assert hasattr(numba.config, "CACHE_DIR")


def test_the_digest_of_a_value_can_be_taught_what_notebook_code_is():
    """Without this a changed function of a notebook would find the results of the old one."""

    class Hasher(NumpyHasher):
        def reducer_override(self, value):
            return (str, ("seen",)) if value is np else NotImplemented

    assert Hasher("sha1").hash([np]) == Hasher("sha1").hash([np])
