"""Settings for every test: hypothesis draws the same examples each time and watches no clock."""

import hypothesis

hypothesis.settings.register_profile("crowdwise", derandomize=True, deadline=None)
hypothesis.settings.load_profile("crowdwise")
