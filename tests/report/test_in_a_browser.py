"""The page in a real browser without a network: no error, no request, the right figures."""

import json
import shutil

import pytest

from dfop.report import write_page

from .pages import HOSTILE, of_classes, of_numbers

WINDOWS = {"phone": (390, 844), "desk": (1280, 900)}


@pytest.fixture(scope="module")
def browser():
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("no Chromium: apt-get install chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    # The proxy leads nowhere: what the page does not ask of its own file, it cannot get.
    nowhere = {"server": "http://127.0.0.1:9"}
    with playwright.sync_playwright() as driver:
        options = {"executable_path": path, "args": ["--no-sandbox"], "proxy": nowhere}
        started = driver.chromium.launch(**options)
        yield started
        started.close()


@pytest.fixture(scope="module", params=[of_numbers, of_classes], ids=["numbers", "classes"])
def written(request, tmp_path_factory):
    model, history = request.param()
    path = tmp_path_factory.mktemp("pages") / "report.html"
    write_page(path, history, model, title="<i>$$title$$</i>", about={"source": "</title><b>"})
    return path, history


class Seen:
    """A page that was opened, and what happened meanwhile."""

    def __init__(self, browser, path, window, *, scripts=True):
        width, height = WINDOWS[window]
        self.errors, self.requests = [], []
        self.context = browser.new_context(
            viewport={"width": width, "height": height},
            offline=True,
            java_script_enabled=scripts,
        )
        self.page = self.context.new_page()
        self.page.on("console", self.heard)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", lambda dialog: self.errors.append("a dialog opened"))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())
        if scripts:
            drawn = "document.querySelector('#zoom').childElementCount > 0"
            self.page.wait_for_function(drawn)

    def heard(self, message):
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()


def figures_of(page):
    """Return the figures that stand on a page, by name."""
    read = "all => all.map(x => [x.dataset.figure, x.value, x.textContent])"
    return page.eval_on_selector_all("data[data-figure]", read)


@pytest.mark.parametrize("window", WINDOWS)
def test_it_opens_without_error_or_request(browser, written, window):
    path, _ = written
    with Seen(browser, path, window) as seen:
        seen.page.mouse.wheel(0, 100_000)
        seen.page.wait_for_timeout(300)
        assert seen.errors == []
        assert seen.requests == [path.as_uri()]
        assert seen.page.title() == "<i>$$title$$</i>"
        width = seen.page.evaluate("document.documentElement.scrollWidth")
        assert width <= WINDOWS[window][0], "it has to be scrolled sideways"
        fits = "all => all.every(table => table.scrollWidth <= table.clientWidth)"
        assert seen.page.eval_on_selector_all(".scroll", fits), "alarms are cut off"
        smallest = seen.page.eval_on_selector_all(
            "figure svg text", "all => Math.min(...all.map(t => t.getBoundingClientRect().height))"
        )
        assert smallest >= 8, "text of a picture is too small to be read"


@pytest.fixture(scope="module")
def on_desk(browser, written):
    """A page that several look at, one after the other."""
    path, history = written
    with Seen(browser, path, "desk") as seen:
        yield seen, history


def test_its_figures_are_those_of_the_summary(on_desk):
    seen, history = on_desk
    summary = json.loads(seen.page.text_content("#summary"))
    assert summary == history.summary()
    figures = figures_of(seen.page)
    assert len(figures) > 10
    for name, value, words in figures:
        exact = summary
        for key in name.split("."):
            exact = exact[int(key) if isinstance(exact, list) else key]
        assert value == ("" if exact is None else str(exact))
        digits = words.replace(",", "").replace("%", "").strip()
        if exact is None:
            assert digits == "n/a"
            continue
        rounded = float(digits) / (100 if "%" in words else 1)
        assert rounded == pytest.approx(exact, rel=0.06)


def test_it_can_be_read_without_scripts(browser, written):
    path, _ = written
    with Seen(browser, path, "phone", scripts=False) as seen:
        assert seen.page.locator("figure svg").count() >= 2
        assert seen.page.is_visible("data[data-figure='error.now']")


def test_curves_can_be_zoomed_together(on_desk):
    seen, history = on_desk
    views = "Object.values(Bokeh.index)[0].model.children.map(plot => plot.x_range.end)"
    before = seen.page.evaluate(views)
    assert set(before) == {history.rows}
    place = seen.page.locator("#zoom").bounding_box()
    seen.page.mouse.wheel(0, place["y"] - 50)
    seen.page.wait_for_timeout(300)
    place = seen.page.locator("#zoom").bounding_box()
    y = place["y"] + 120
    seen.page.mouse.move(place["x"] + 300, y)
    seen.page.mouse.down()
    seen.page.mouse.move(place["x"] + 500, y, steps=5)
    seen.page.mouse.up()
    seen.page.wait_for_timeout(300)
    after = seen.page.evaluate(views)
    assert len(set(after)) == 1
    assert after[0] < history.rows
    assert seen.errors == []


def test_names_of_columns_stay_text(browser, tmp_path):
    model, history = of_numbers(1500)
    write_page(tmp_path / "r.html", history, model)
    with Seen(browser, tmp_path / "r.html", "desk") as seen:
        assert seen.page.title() == "What was learned"
        assert seen.page.locator("img, b, i, mjx-container").count() == 0
        table = seen.page.text_content("section:has(h2:text('matters most'))")
        assert "$$x$$" in table
        assert HOSTILE[0][:20] in table


def test_it_prints(on_desk):
    seen, _ = on_desk
    printed = seen.page.pdf(format="A4")
    assert printed.startswith(b"%PDF")
    pages = printed.count(b"/Type /Page\n") + printed.count(b"/Type /Page ")
    assert 1 <= pages <= 6
    seen.page.emulate_media(media="print")
    assert not seen.page.is_visible("#zoom")
    assert seen.page.is_visible("figure svg >> nth=0")
