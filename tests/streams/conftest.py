import os
from pathlib import Path

import pytest


@pytest.fixture
def data():
    """The folder of published files; tests that need it are skipped without it."""
    folder = os.environ.get("DFOP_DATA")
    if not folder:
        pytest.skip("DFOP_DATA names no folder of data files")
    return Path(folder)
