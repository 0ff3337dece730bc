"""`crowdwise demo`: the main job on data that ships with scikit-learn, in under a minute."""

from typing import Annotated, Any

import typer

from crowdwise.cli.tables import console_on

EPOCHS = 60
COMMON: dict[str, Any] = {"net": "fc128", "epochs": EPOCHS, "lr": 1e-2}
CCC: dict[str, Any] = {
    "warmup_epochs": 5,  # a long one settles on wrong classes (docs/log.md)
    "n_groups": 30,
    "meta_size": 300,
    "correction_rate": 0.5,
}


def demo(
    out: Annotated[
        str, typer.Option(metavar="FOLDER", help="Where CCC's run folder and its report go.")
    ] = "demo",
    seed: Annotated[int, typer.Option(help="The one source of randomness, crowd included.")] = 0,
) -> None:
    """Show what crowdwise is for: handwritten digits, 250 annotators, most of their labels wrong.

    crowdwise demo --out demo
    """
    import shutil
    import sys
    from pathlib import Path

    import numpy as np
    import torch
    from rich.table import Table
    from rich.text import Text

    import crowdwise
    from crowdwise import datasets, simulate
    from crowdwise.annotations.stats import noise_rates
    from crowdwise.engine.progress import show_epochs
    from crowdwise.estimator import CrowdClassifier
    from crowdwise.report.html import write_report

    torch.set_num_threads(1)  # the tensors are too small to share
    console = console_on(sys.stdout)
    digits = datasets.load("digits")
    assert digits.y_train is not None
    made = simulate.crowd_with_details(digits.y_train, "IND-I", k=3, seed=seed)
    crowd = made.annotations
    helpless, wrong = noise_rates(crowd, digits.y_train)
    each = len(crowd) / crowd.n_annotators
    console.print(
        Text(
            f"{crowd.n_items} handwritten digits; {crowd.n_annotators} simulated annotators of "
            f"five kinds, {each:.0f} labels each.\n{wrong:.0%} of the labels are wrong; for "
            f"{helpless:.0%} of the digits nobody gave the right one."
        )
    )

    table = Table("from the crowd's labels", "training digits", "test digits", title="% right")
    for name in ("majority", "dawid-skene"):
        answer = crowdwise.aggregate(crowd, name)
        right = (answer.labels == digits.y_train).mean()
        table.add_row(f"{name}, labels alone", f"{100 * right:.1f}", "")
    shown = {"major-vote": "majority vote", "crowd-layer": "CrowdLayer", "ccc": "CCC"}
    for method, words in shown.items():
        own = CCC if method == "ccc" else {}
        classifier = CrowdClassifier(method, seed=seed, **COMMON, **own)
        with show_epochs(EPOCHS) as on_epoch:
            classifier.fit(digits.x_train, crowd, on_epoch=on_epoch)
        consensus = classifier.consensus_["label"].to_numpy()
        test = classifier.score(digits.x_test, digits.y_test)
        right = (consensus == digits.y_train).mean()
        table.add_row(
            f"classifier by {words}, last epoch", f"{100 * right:.1f}", f"{100 * test:.1f}"
        )
    console.print(table)

    seen = classifier.annotators_
    table = Table(
        *("kind of annotator", "labels right", "as CCC tells it", "called spammers"),
        title="whom to trust, by kind of annotator, %",
    )
    patterns = np.array(made.patterns)
    right = digits.y_train[crowd.item] == crowd.label
    told, labels = seen["accuracy"].to_numpy(), seen["labels"].to_numpy()
    for kind in dict.fromkeys(made.patterns):
        own = (patterns == kind) & (labels > 0)
        table.add_row(
            kind,
            f"{100 * right[own[crowd.annotator]].mean():.0f}",
            f"{100 * np.average(told[own], weights=labels[own]):.0f}",
            f"{seen['suspected_spammer'].to_numpy()[own].sum()} of {own.sum()}",
        )
    console.print(table)

    run = Path(out) / "run"
    if (run / "done").is_file():  # the demo before this one, and nothing else
        shutil.rmtree(run)
    classifier.save(run)
    console.print(Text(f"CCC's run folder: {run}\nIts report: {write_report(run)}"))
