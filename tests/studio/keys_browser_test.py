"""Every key that a policy may have can be set by the form, in a real browser; the file on the disk then says it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from browsers import Tab, expect
from kveil.studio.edit import content
from policy_keys import keys_in, keys_of_columns_and_promises, settings_of_the_schema
from running_studio import Running

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

MODELS = {
    "l-diversity": {"l": "4"},
    "p-sensitive": {"p": "3"},
    "alpha-k": {"alpha": "0.6", "k": "4"},
    "t-closeness": {"t": "0.3"},
    "kl-diversity": {"k": "4", "l": "2"},
    "k-km-anonymity": {"k": "3", "m": "1"},
}


class Form:
    """A tab whose form is filled in: what was said on the way is gathered."""

    def __init__(self, tab: Tab) -> None:
        self.tab = tab
        self.page = tab.page
        self.keys: set[str] = set()

    def said(self, *path: str | int) -> Any:
        """Return what the policy on the disk says at a key path, None where it says nothing."""
        here: Any = content(self.tab.policy)
        for step in path:
            if isinstance(here, dict):
                here = here.get(step)
            elif isinstance(here, list) and isinstance(step, int) and -len(here) <= step < len(here):
                here = here[step]
            else:
                return None
        return here

    def wait(self, value: Any, *path: str | int) -> None:
        """Wait until the policy says a value at a key path."""
        for _ in range(1200):
            if self.said(*path) == value:
                self.keys |= keys_in(content(self.tab.policy))
                return
            self.page.wait_for_timeout(50)
        raise AssertionError((path, value, self.said(*path)))

    def fill(self, field: Locator, value: str) -> None:
        """Type into a field and leave it."""
        field.fill(value)
        field.press("Enter")
        field.blur()


def test_every_plain_setting_can_be_set_by_form(browser: Browser, studio: Running) -> None:
    studio.edit({"path": ["attributes", "patient_id", "role"], "value": "individual"})
    form = Form(Tab(browser, studio))
    settings = settings_of_the_schema()
    assert {("data", "path"), ("release", "order"), ("individual", "conflicts"), ("seed",)} <= set(settings)
    form.tab.go("file")
    form.page.get_by_text("How the file is read").click()
    for path, schema in settings.items():
        # Texts for missing have a field of their own; `layout_browser_test` chooses sheets and lines.
        if path[0] == "data" and path[-1] not in ("missing", "sheet", "skip"):
            _set(form, path, schema)
    form.page.get_by_label("Another text that means not recorded").fill("?")
    form.page.get_by_role("button", name="Add").first.click()
    form.wait(["", "?"], "data", "missing")
    of_the_run = ("engine", "loss", "seed")
    form.tab.go("run")
    form.page.get_by_text("What counts as loss, the seed").click()
    for path, schema in settings.items():
        if path[0] in of_the_run:
            _set(form, path, schema)
    form.tab.go("promises")
    form.page.get_by_text("The rest of what a policy can say").click()
    for path, schema in settings.items():
        if path[0] not in ("data", "suppression", *of_the_run):
            _set(form, path, schema)
    form.fill(form.page.get_by_label("up to"), "7.5")
    form.wait("0.075", "suppression", "limit")
    form.page.get_by_label("show * in them").click()
    form.wait("star", "suppression", "show")
    form.tab.close()


def _set(form: Form, path: tuple[str, ...], schema: dict[str, Any]) -> None:
    field = form.page.locator(f"#{'-'.join(('field', *path))}")
    choices = schema.get("enum") or [schema["const"]] if "enum" in schema or "const" in schema else []
    for value in choices:
        field.select_option(value)
        form.wait(value, *path)
    if not choices:
        numeric = schema.get("type") in ("integer", "number")
        usual = {"path": "./patients.csv", "separator": ",", "key": "patient_id", "encoding": "cp1252"}
        value = usual.get(path[-1], "3" if numeric else "x")
        form.fill(field, value)
        form.wait([value] if schema.get("type") == "array" else value, *path)


def test_every_key_of_columns_and_promises_can_be_set_by_form(browser: Browser, studio: Running) -> None:
    form = Form(Tab(browser, studio))
    _columns(form)
    _trees_and_limits(form)
    _numbers(form)
    _promises(form)
    _algorithm(form)
    assert keys_of_columns_and_promises() - form.keys == set()
    form.tab.close()


def _columns(form: Form) -> None:
    form.tab.go("columns")
    for role in ("identifier", "quasi-identifier", "insensitive", "sensitive"):
        form.page.get_by_label("What is insurance?").select_option(role)
        form.wait(role, "attributes", "insurance", "role")


def _kind(form: Form, column: str, words: str, test: Callable[[Any], bool]) -> None:
    form.tab.go("steps", column)
    form.page.get_by_label(f"Steps of {column}", exact=True).first.wait_for()
    form.page.get_by_label(words, exact=True).click()
    for _ in range(1200):
        if test(form.said("attributes", column, "hierarchy")):
            form.keys |= keys_in(content(form.tab.policy))
            return
        form.page.wait_for_timeout(50)
    raise AssertionError((column, words, form.said("attributes", column)))


def _trees_and_limits(form: Form) -> None:
    page = form.page
    form.tab.go("steps", "zip")
    page.locator(".node", has_text="New England").locator(".mark").click()
    form.wait(["New England"], "attributes", "zip", "boundary")
    page.get_by_label("Limit", exact=True).select_option("level")
    form.wait({"level": "1"}, "attributes", "zip", "boundary")
    page.get_by_label("step 2").click()
    form.wait({"level": "2"}, "attributes", "zip", "boundary")
    _kind(form, "zip", "cut from the end", lambda spec: "mask" in spec)
    page.get_by_label("another one").fill("1")
    page.get_by_label("another one").press("Enter")
    form.wait(["4", "3", "2", "1"], "attributes", "zip", "hierarchy", "mask", "keep")
    page.get_by_text("How much its detail matters").click()
    form.fill(page.get_by_label("weight", exact=True), "2")
    form.wait("2", "attributes", "zip", "weight")
    form.tab.go("steps", "birth")
    page.get_by_label("quarter").click()
    form.wait(["month", "quarter", "year", "decade"], "attributes", "birth", "hierarchy", "dates")
    form.tab.go("steps", "sex")
    page.get_by_role("button", name="Paste from a spreadsheet…").click()
    page.get_by_label("One row for each value").fill("F\tanybody\nM\tanybody\n")
    page.get_by_role("button", name="Take these rows").click()
    form.wait({"anybody": ["F", "M"]}, "attributes", "sex", "hierarchy", "tree")
    page.get_by_role("button", name="Take a tree from a file…").click()
    page.get_by_label("File of the tree").select_option("state.csv")
    page.get_by_role("button", name="Take it").click()
    form.wait("state.csv", "attributes", "sex", "hierarchy")
    page.get_by_role("button", name="Undo").click()
    form.wait({"anybody": ["F", "M"]}, "attributes", "sex", "hierarchy", "tree")


def _numbers(form: Form) -> None:
    page, bands, ranges = form.page, ("attributes", "weight", "hierarchy", "intervals"), ("attributes", "weight")
    form.tab.go("steps", "weight")
    for label, key, value in (("from", "from", "-40"), ("to", "to", "239")):
        form.fill(page.get_by_label(label, exact=True), value)
        form.wait(value, *bands, key)
    page.get_by_label("in bands of: another one").fill("80")
    page.get_by_label("in bands of: another one").press("Enter")
    form.wait(["5", "10", "20", "40", "80"], *bands, "widths")
    for ends in ("below", "both"):
        page.get_by_label("numbers beyond").select_option(ends)
        form.wait(ends, *bands, "open")
    _kind(form, "weight", "ranges of numbers", lambda spec: "ranges" in spec)
    page.get_by_label("rounded to", exact=True).wait_for()  # until then the fields are those of the bands
    for label, value, path in (
        ("from", "0", ("hierarchy", "ranges", "within", 0)),
        ("to", "250", ("hierarchy", "ranges", "within", 1)),
        ("rounded to", "5", ("hierarchy", "ranges", "round")),
        ("at most so wide", "60", ("boundary", "max_width")),
    ):
        form.fill(page.get_by_label(label, exact=True), value)
        form.wait(value, *ranges, *path)
    page.get_by_label("a group shows").select_option("midpoints")
    form.wait({"within": ["0", "250"], "round": "5", "bounds": "midpoints"}, *ranges, "hierarchy", "ranges")
    form.wait(None, *ranges, "boundary")


def _promises(form: Form) -> None:
    page = form.page
    form.tab.go("promises")
    page.get_by_role("button", name="+ a promise over all of them").click()
    form.wait("3", "privacy", 3, "k")
    page.locator(".promise").nth(3).get_by_text("department", exact=True).click()
    form.wait(["birth", "sex", "zip", "weight"], "privacy", 3, "attributes")
    page.get_by_role("radio", name="yes").click()
    page.get_by_label("the column that says whose").select_option("patient_id")
    form.wait("individual", "attributes", "patient_id", "role")
    for place, (model, settings) in enumerate(MODELS.items(), start=4):
        page.get_by_label("Kind of promise").select_option(model)
        page.get_by_role("button", name="+ add").click()
        form.wait(model, "privacy", place, "model")
        for key, value in settings.items():
            form.fill(page.locator(f"#p{place}-{key}"), value)
            form.wait(value, "privacy", place, key)
    for value in ("entropy", "frequency", "recursive"):
        page.locator("#p4-variant").select_option(value)
        form.wait(value, "privacy", 4, "variant")
    form.fill(page.locator("#p4-c"), "2")
    form.wait("2", "privacy", 4, "c")
    page.get_by_label("Protected column of promise E").select_option("insurance")
    form.wait("insurance", "privacy", 4, "sensitive")
    for value in ("ordered", "hierarchical"):
        page.locator("#p7-distance").select_option(value)
        form.wait(value, "privacy", 7, "distance")
    page.get_by_label("Another rule").fill("zip -> state")
    page.get_by_label("Another rule").press("Enter")
    form.wait(["zip -> state"], "dependencies")


def _algorithm(form: Form) -> None:
    form.tab.go("run")
    form.page.get_by_label("Method", exact=True).select_option("mondrian", force=True)
    form.wait("mondrian", "algorithm")
    form.page.get_by_text("Options of mondrian").click()
    form.page.locator("#option-choose").select_option("gain")
    form.wait({"name": "mondrian", "choose": "gain"}, "algorithm")
    expect(form.page.get_by_label("The same on the command line")).to_contain_text("kveil anonymize policy.yaml")
