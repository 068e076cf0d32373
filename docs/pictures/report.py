"""Makes a report and takes its picture: ``python docs/pictures/report.py`` (needs Chromium).

A plant whose sensor fails half way: `report.html` goes where one is, `report.png` beside this file.
"""

import io
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image
from playwright.sync_api import sync_playwright

from dfop import DFOPRegressor, evaluate
from dfop.rows.tables import as_batch
from dfop.streams.stream import Stream

HERE = Path(__file__).parent
ROWS = 20_000


def plant():
    """Return rows of a plant: load, two temperatures and a valve drive the yield."""
    rng = np.random.default_rng(4)
    t = np.arange(ROWS)
    load = 60 + 10 * np.sin(2 * np.pi * t / 1440) + 3 * rng.normal(size=ROWS)
    inside = 180 + 0.2 * (load - 60) + rng.normal(size=ROWS)
    outside = 15 + 8 * np.sin(2 * np.pi * t / 1440 + 1) + rng.normal(size=ROWS)
    valve = rng.uniform(0, 1, size=ROWS)
    weight = np.where(t < 12_000, 0.8, 0.1)  # the sensor comes loose
    product = 20 + 0.1 * load + weight * (inside - 180) - 0.05 * outside + 2 * valve
    product += np.cumsum(0.01 * rng.normal(size=ROWS)) + 0.3 * rng.normal(size=ROWS)
    X = pd.DataFrame({"load": load, "inside": inside, "outside": outside, "valve": valve})
    when = np.datetime64("2024-03-01T00:00", "s") + 60 * t
    return Stream.from_arrays(as_batch(X), product, name="plant", time=when)


def main():
    """Write the page, then its picture."""
    browser_path = shutil.which("chromium")
    if browser_path is None:
        sys.exit("no Chromium: apt-get install chromium")
    page_path = Path("report.html").resolve()
    model = DFOPRegressor()
    evaluate(model, plant()).report(page_path, model)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 860, "height": 1180})
        page.goto(page_path.as_uri())
        picture = Image.open(io.BytesIO(page.screenshot()))
        browser.close()
    picture.convert("RGB").quantize(48).save(HERE / "report.png", optimize=True)


if __name__ == "__main__":
    main()
