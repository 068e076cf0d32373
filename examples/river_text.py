"""River: dicts with text, features that come and go, a pipeline, and River's own evaluation."""

import random
from collections.abc import Iterator
from typing import Any

from river import compose, evaluate, linear_model, metrics, preprocessing

from dfop.river import DFOPClassifier


def machines(n: int = 3000) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield readings of machines: their kind is text, and one sensor was added later."""
    rng = random.Random(1)
    for t in range(n):
        x: dict[str, Any] = {
            "kind": rng.choice(["press", "lathe", "saw"]),
            "heat": rng.gauss(60, 10),
            "speed": rng.gauss(1000, 200),
        }
        if t > n // 2:
            x["noise"] = rng.gauss(0, 1)
        limit = {"press": 65, "lathe": 55, "saw": 60}[x["kind"]]
        hot = x["heat"] + 3 * x.get("noise", 0) + rng.gauss(0, 2) > limit
        yield x, "fault" if hot else "fine"


def main() -> None:
    ours = compose.Discard("speed") | DFOPClassifier()  # text and new features need nothing more
    score = evaluate.progressive_val_score(machines(), ours, metrics.Accuracy())
    print(f"dfop, nothing chosen: {score}")

    late = evaluate.progressive_val_score(
        machines(), DFOPClassifier(), metrics.Accuracy(), delay=99
    )
    print(f"the same, labels 99 rows late: {late}")

    numbers = compose.SelectType(float) | preprocessing.StandardScaler()
    kinds = compose.SelectType(str) | preprocessing.OneHotEncoder()
    theirs = (numbers + kinds) | linear_model.LogisticRegression()
    labelled = ((x, label == "fault") for x, label in machines())
    score = evaluate.progressive_val_score(labelled, theirs, metrics.Accuracy())
    print(f"logistic regression: {score}")

    best = max(ours["DFOPClassifier"].experts_, key=lambda expert: expert.weight)
    print(f"most believed now: {best.features}, mu {best.forgetting}, walk {best.walk}")


if __name__ == "__main__":
    main()
