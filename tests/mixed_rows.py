"""Tables of text, numbers and gaps, and their code worked out one cell at a time."""

import zlib

import numpy as np
import pandas as pd


def coded_by_hand(records, weights=None, most_texts=100, buckets=32):
    """Names of the coded columns and the coded rows of dicts, straight from the rules.

    No shared code with the package: every row is coded from lists of the values before it.
    """
    names, rows, values_of, texts_of = [], [], {}, {}
    weights = np.ones(len(records)) if weights is None else weights
    for record, weight in zip(records, weights, strict=True):
        row = {}

        def put(name, value, seen=weight > 0.0, row=row):
            if name not in names and seen:
                names.append(name)
            if name in names:
                row[name] = value

        for key in record:
            put((key, "first"), 0.0, seen=True)
        for key, value in record.items():
            past = values_of.setdefault(key, [])
            if value is None or value != value:
                if past:
                    total = count = 0.0
                    for number, times in past:
                        total, count = total + times * number, count + times
                    put((key, "first"), total / count)
                put((key, "missing"), 1.0)
            elif isinstance(value, str):
                texts = texts_of.setdefault(key, [])
                if value not in texts and weight > 0.0 and len(texts) < most_texts:
                    texts.append(value)
                if texts and value == texts[0]:
                    put((key, "first"), 1.0)
                elif value in texts:
                    put((key, "=", value), 1.0)
                elif len(texts) == most_texts:
                    put((key, "#", zlib.crc32(value.encode()) % buckets), 1.0)
            else:
                put((key, "first"), float(value))
                if weight > 0.0:
                    past.append((float(value), weight))
        rows.append(row)
    shown = [shown_name(name, texts_of) for name in names]
    return shown, np.array([[row.get(name, 0.0) for name in names] for row in rows])


def shown_name(name, texts_of):
    key, kind, *value = name
    if kind == "first":
        return f"{key}={texts_of[key][0]}" if texts_of.get(key) else key
    return f"{key} is missing" if kind == "missing" else f"{key}{kind}{value[0]}"


def table(rng, n, texts=6):
    """A frame with numbers, sometimes missing, and text, sometimes missing and ever newer."""
    known = np.array([f"w{k}" for k in range(texts)], dtype=object)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n) * 10.0 ** rng.integers(-2, 3),
            "color": known[np.minimum(rng.integers(0, texts, n), np.arange(n) // 3)],
            "weight": rng.normal(size=n),
            "city": known[rng.integers(0, texts, n)],
            "flag": rng.random(n) < 0.5,
        }
    )
    frame["city"] = frame["city"].astype(object)
    frame["color"] = frame["color"].astype(object)
    frame.loc[rng.random(n) < 0.2, "size"] = np.nan
    frame.loc[rng.random(n) < 0.2, "city"] = None
    return frame


def records_of(frame):
    return [
        {name: None if pd.isna(value) else value for name, value in record.items()}
        for record in frame.to_dict("records")
    ]
