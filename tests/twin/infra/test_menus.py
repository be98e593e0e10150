"""Files that cannot be used, in the folder of every menu: each disables only itself, and says why."""

import importlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import experiments
from scheduling import run_times
from scheduling.kernel import registry
from scheduling.kernel.menus import Unavailable
from scheduling.kernel.parameters import UnknownName
from scheduling.model.values import ModelError
from scheduling.run_times.beliefs import beliefs
from scheduling.run_times.tournament import DEFAULT, usable
from twin.actuators import base as actuators
from twin.alerts import base as alerts
from twin.connectors import base as connectors
from twin.operation import checks
from twin.push import bodies
from twin.samplers import base as samplers
from twin.scenarios import edits
from twin.studies.gallery import starting
from twin.traces.importing import formats
from twin.traces.importing.assignment import assigned
from twin.traces.importing.drafts import ImportRefused

ROOT = Path(__file__).resolve().parents[3]
MENUS = {
    one.noun: one
    for one in (
        actuators.MENU, alerts.MENU, bodies.MENU, connectors.MENU, edits.MENU, experiments.MENU, formats.MENU,
        run_times.MENU, samplers.MENU, starting.MENU,
    )
}  # fmt: skip
# noun -> a file, and a name that it defines
FILES = {
    "actuator": ("slurm", "slurm"), "alert rule": ("data_old", "data_old"), "connector": ("push", "push"),
    "experiment": ("oasis_fig06_price_range", "oasis_fig06_price_range"), "format": ("native_csv", "jobs_csv"),
    "kind of body": ("ray_events", "ray_events"), "predictor": ("last_two", "last-two"), "sampler": ("sstat", "sstat"),
    "template": ("flash_crowd", "flash_crowd"), "verb": ("links", "change_bandwidth"),
}  # fmt: skip
CHOSEN = {"format", "predictor", "verb"}  # their files choose the names


def extended(menu, folder, patch):
    """The package of a menu, with this folder as well."""
    package = importlib.import_module(menu.package)
    patch.setattr(package, "__path__", [*package.__path__, str(folder)])
    menu.forget()
    importlib.invalidate_caches()


@pytest.fixture
def more(tmp_path, monkeypatch):
    """more(menu): a folder with files of the menu, beside that of the product."""
    before, used = set(sys.modules), []

    def folder(menu):
        extended(menu, tmp_path, monkeypatch)
        used.append(menu)
        return tmp_path

    yield folder
    monkeypatch.undo()
    for menu in used:
        menu.forget()
        for name in [name for name in sys.modules if name.startswith(f"{menu.package}.") and name not in before]:
            vars(sys.modules[menu.package]).pop(name.removeprefix(f"{menu.package}."), None)
            del sys.modules[name]


@pytest.fixture(params=MENUS)
def menu(request):
    MENUS[request.param].names()  # its modules stay after the test
    return MENUS[request.param]


def test_every_menu_is_checked_here_and_by_doctor():
    assert set(MENUS) == set(FILES)
    assert set(MENUS.values()) == set(checks.MENUS)
    found = checks.extensions()
    assert (found.level, found.remedy) == ("ok", "")
    count = len(registry.names()) + sum(len(menu.names()) for menu in MENUS.values())
    assert found.text == f"{count} names"


def test_a_file_that_raises_disables_only_itself(menu, more):
    names, path = menu.names(), more(menu) / "broken.py"
    path.write_text("raise RuntimeError('boom')\n")
    reason = f"{path} cannot be imported: RuntimeError: boom"
    assert (menu.names(), menu.unavailable()) == (names, {"broken": reason})
    with pytest.raises(Unavailable, match=re.escape(f"{menu.noun} 'broken' is not available: {reason}")):
        menu.named("broken")
    with pytest.raises(UnknownName, match=re.escape(f"; not available: broken: {reason}")):
        menu.named("no such name")
    found = checks.extensions()
    assert (found.level, found.text) == ("warning", f"{menu.noun} 'broken' is not available: {reason}")


def test_an_error_of_another_file_is_said_to_be_there(menu, more, tmp_path):
    folder = more(menu)
    (folder / "_part.py").write_text("x = 1\n1 / 0\n")
    (folder / "broken.py").write_text(f"import {menu.package}._part\n")
    assert menu.unavailable() == {
        "broken": f"{folder}/broken.py cannot be imported: ZeroDivisionError: division by zero "
        f"({folder}/_part.py, line 2)"
    }


def test_an_import_within_the_product_is_no_missing_package(menu, more):
    path = more(menu) / "broken.py"
    path.write_text(f"from {menu.package.partition('.')[0]} import no_such_module\n")
    assert menu.unavailable()["broken"].startswith(f"{path} cannot be imported: ImportError: cannot import name")


def test_a_missing_package_is_named(menu, more):
    (more(menu) / "broken.py").write_text("import no_such_package\n")
    assert menu.unavailable()["broken"].startswith("it needs the package no_such_package, which cannot be imported")


def test_a_module_and_a_package_of_one_name_are_both_named_and_neither_is_used(menu, more):
    names, folder = menu.names(), more(menu)
    (folder / "same").mkdir()
    for path in (folder / "same.py", folder / "same/__init__.py"):
        path.write_text("raise RuntimeError('imported')\n")
    assert menu.names() == names
    assert menu.unavailable() == {
        "same": f"this name is defined more than once: {folder}/same/__init__.py and {folder}/same.py; rename one"
    }


def test_two_files_of_one_name_disable_each_other(menu, more):
    file, name = FILES[menu.noun]
    module = f"{menu.package}.{file}"
    entries = menu.available().items()
    of_file = {one for one, entry in entries if module in (entry.__name__, getattr(entry, "__module__", ""))}
    names, folder = menu.names(), more(menu)
    shutil.copy(own(menu, file), folder)
    reason = menu.unavailable()[file]
    assert reason.startswith("this name is defined more than once: ")
    assert reason.endswith("; rename one")
    assert f"{folder}/{file}.py" in reason
    assert str(own(menu, file).relative_to(ROOT)) in reason
    assert name in of_file
    assert set(names) - set(menu.names()) == of_file


@pytest.mark.parametrize("noun", sorted(CHOSEN))
def test_a_copy_under_another_file_name_disables_both(noun, more):
    """Whichever was read last would silently win."""
    menu, (file, name) = MENUS[noun], FILES[noun]
    names, folder = menu.names(), more(menu)
    shutil.copy(own(menu, file), folder / f"{file}_copy.py")
    original = own(menu, file).relative_to(ROOT)
    reason = f"this name is defined more than once: {original} and {folder}/{file}_copy.py; rename one"
    assert menu.unavailable()[name] == reason
    assert set(menu.names()) == set(names) - set(menu.unavailable())
    with pytest.raises(Unavailable, match=re.escape(f"{noun} {name!r} is not available: {reason}")):
        menu.named(name)


@pytest.mark.parametrize("noun", sorted(set(FILES) - CHOSEN - {"experiment", "kind of body"}))
def test_a_copy_that_keeps_the_name_of_its_original_is_not_used(noun, more):
    menu, (file, name) = MENUS[noun], FILES[noun]
    names, folder = menu.names(), more(menu)
    shutil.copy(own(menu, file), folder / "copied.py")
    assert menu.names() == names
    assert menu.unavailable() == {"copied": f"{folder}/copied.py must define one {noun}, named 'copied'; it has {name}"}


@pytest.mark.parametrize(("noun", "lacking"), [
    ("format", "FORMAT, TITLE, sniff, read"), ("kind of body", "TITLE, MEDIA_TYPES, fits, read"),
    ("experiment", "PAPER, TITLE, run"),
])  # fmt: skip
def test_an_empty_file_says_what_it_lacks(noun, lacking, more):
    path = more(MENUS[noun]) / "empty.py"
    path.write_text("")
    assert MENUS[noun].unavailable() == {"empty": f"{path} must define {lacking}; it lacks {lacking}"}


def own(menu, file):
    return Path(importlib.import_module(menu.package).__path__[0]) / f"{file}.py"


def test_formats_are_recognized_beside_a_broken_importer(more):
    (more(formats.MENU) / "broken.py").write_text("raise RuntimeError('boom')\n")
    assert {match.format for match in formats.sniff(b"; Version: 2\n")} == set(formats.formats())
    assert formats.title_of("swf") == formats.formats()["swf"].TITLE
    with pytest.raises(ImportRefused, match=r"format 'broken' is not available: .*broken.py cannot be imported"):
        assigned([], "broken")


def test_edits_are_read_beside_a_broken_file(more):
    (more(edits.MENU) / "broken.py").write_text("raise RuntimeError('boom')\n")
    assert len(edits.parse([{"verb": "fail_servers", "at_ms": 0, "servers": "w00"}])) == 1
    with pytest.raises(
        UnknownName, match=r"edit 1: unknown verb 'fail'.*; not available: broken: .*RuntimeError: boom"
    ):
        edits.parse([{"verb": "fail"}])


def test_a_predictor_that_is_not_available_is_named_where_it_is_asked_for(more):
    folder = more(run_times.MENU)
    shutil.copy(own(run_times.MENU, "similar_p90"), folder / "copied.py")
    with pytest.raises(ModelError, match=r"predictor 'similar-p90' is not available: this name is defined more than"):
        beliefs("similar-p90")
    assert beliefs("last-two").name == "last-two"
    assert usable() == "last-two" != DEFAULT


def test_schedulers_that_estimate_run_times_work_beside_a_broken_predictor(tmp_path):
    """Their parameter says which estimate is left out; in a process of its own, because it is made at import."""
    (tmp_path / "broken.py").write_text("raise RuntimeError('boom')\n")
    script = f"""
from scheduling import run_times
run_times.__path__.append({str(tmp_path)!r})
from scheduling.kernel import registry
from scheduling.kernel.parameters import describe
for name in ("easy", "conservative", "slurm"):
    cls = registry.scheduler_class(name)
    print(next(row["help"] for row in describe(cls.Parameters) if row["name"] == "estimates")[-100:])
registry.build("easy", {{"estimates": "broken"}})
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    reason = f"; not available: broken: {tmp_path}/broken.py cannot be imported: RuntimeError: boom"
    assert done.stdout.splitlines() == [reason[-100:]] * 3, done.stderr
    assert "must be one of limits, actual, last-two" in done.stderr.splitlines()[-1]
    assert done.stderr.splitlines()[-1].endswith(f"got 'broken'{reason}")
