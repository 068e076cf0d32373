"""scikit-learn: a pipeline with cross-validation, then the same learner on a stream that drifts."""

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import TimeSeriesSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from dfop import DFOPClassifier


def flights(n: int = 3000) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "distance": rng.uniform(100, 9000, n),
            "wind": rng.normal(0, 20, n),
            "carrier": rng.choice(["AA", "BB", "CC"], n),
        }
    )
    late = X["wind"] / 20 + (X["carrier"] == "CC") + 0.3 * rng.normal(size=n) > 0.5
    return X, np.where(late, "late", "on time")


def main() -> None:
    X, y = flights()
    coded = ColumnTransformer(
        [
            ("numbers", StandardScaler(), ["distance", "wind"]),
            ("text", OneHotEncoder(), ["carrier"]),
        ]
    )
    pipeline = make_pipeline(coded, DFOPClassifier(forgetting=0.001))
    scores = cross_val_score(pipeline, X, y, cv=TimeSeriesSplit(4))
    print(f"pipeline, cross-validated: {scores.mean():.1%}")

    # None of that is needed for a stream: text is taken as it is, and nothing has to be scaled.
    turned = np.where(y == "late", "on time", "late")
    model, right = DFOPClassifier(), []
    for start in range(0, 2 * len(y), 100):
        at = start % len(y)
        rows = X.iloc[at : at + 100]
        labels = (y if start < len(y) else turned)[at : at + 100]
        if start:
            right.append(np.mean(model.predict(rows) == labels))
        model.partial_fit(rows, labels, classes=["late", "on time"] if not start else None)
    print(f"stream, each hundred before it is learned: {np.mean(right):.1%}")
    print(f"everything turned round at row {len(y)}; alarms at {[a.row for a in model.alarms_]}")


if __name__ == "__main__":
    main()
