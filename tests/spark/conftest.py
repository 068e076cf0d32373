"""A session of Spark for all tests of the room; where there is no Spark they are left out."""

import importlib.util
import os
import shutil
import sys
from pathlib import Path

import pytest

if importlib.util.find_spec("pyspark") and (os.environ.get("JAVA_HOME") or shutil.which("java")):
    import dfop.spark  # noqa: F401  # where it is broken, the tests fail
else:  # `make test-spark` has an environment of its own
    here = Path(__file__).parent
    collect_ignore = [file.name for file in here.glob("*.py") if file.stem != "test_requirements"]

ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


@pytest.fixture(scope="session")
def spark():
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable  # workers must find dfop
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "Europe/Berlin")
        .config("spark.python.authenticate.socketTimeout", "5m")  # a machine may be busy
        .config("spark.sql.streaming.stateStore.providerClass", ROCKS)
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
