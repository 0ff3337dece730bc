"""Settings for every test: hypothesis draws the same examples each time and watches no clock; one
thread each, since small tensors on threads that wait for a core take many times as long."""

import os

import hypothesis

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is imported; child processes inherit

hypothesis.settings.register_profile("crowdwise", derandomize=True, deadline=None)
hypothesis.settings.load_profile("crowdwise")
