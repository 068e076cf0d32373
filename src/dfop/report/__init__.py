"""The report: a history kept while a stream is learned, and one page that shows it.

`History` is fed batch by batch and takes constant memory; `write_page` makes one HTML file of it
that opens offline and prints.
"""

from .history import History
from .page import write_page

__all__ = ["History", "write_page"]
