"""Fuzzing for as long as one likes, guided by the branches that an input reaches.

    python -m tests.robustness.fuzz labels -max_total_time=600

`make fuzz` installs atheris beside the environment and runs every target; findings are written as
crash-… files here.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory


def main() -> None:
    import atheris

    with atheris.instrument_imports(include=["crowdwise"]):
        from tests.robustness.targets import Fuzz, targets

    name, *options = sys.argv[1:]
    with TemporaryDirectory() as good, TemporaryDirectory() as place, TemporaryDirectory() as seeds:
        fuzz = Fuzz(targets(Path(good))[name], Path(place))
        for number, example in enumerate(fuzz.examples()):
            Path(seeds, str(number)).write_bytes(example)
            fuzz(example)
        limits = ["-rss_limit_mb=4096", "-timeout=60", "-max_len=65536"]
        atheris.Setup([sys.argv[0], *limits, *options, seeds], fuzz)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
