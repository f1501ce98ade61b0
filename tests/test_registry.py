"""Registries: names of this package, entry points of other packages, and `module:attribute`."""

import sys
from importlib.metadata import EntryPoint, EntryPoints

import pytest

from selfplay import registry
from selfplay.errors import SettingError
from selfplay.registry import Registry


@pytest.fixture
def fractions():
    return Registry("number", {"half": "fractions:Fraction", "nowhere": "fractions:Missing"}, group="tests.numbers")


def test_a_name_of_the_package_is_imported_when_it_is_looked_up(fractions):
    from fractions import Fraction

    assert fractions["half"] is Fraction
    assert list(fractions) == ["half", "nowhere"]


def test_an_unknown_name_is_refused_with_the_choices(fractions):
    with pytest.raises(SettingError, match=r"^unknown number 'third'; choose from half, nowhere$"):
        fractions["third"]


@pytest.mark.parametrize("name", ["nowhere", "no_such_module:thing", "fractions:Missing", ":Fraction"])
def test_what_cannot_be_imported_is_refused_in_one_line(fractions, name):
    with pytest.raises(SettingError, match=rf"^number '{name}' cannot be imported: [^\n]+$"):
        fractions[name]


def test_another_package_offers_an_entry_point(fractions, monkeypatch):
    points = EntryPoints([EntryPoint("decimal", "decimal:Decimal", "tests.numbers")])
    monkeypatch.setattr(registry, "entry_points", lambda group: points.select(group=group))
    from decimal import Decimal

    assert fractions["decimal"] is Decimal
    assert list(fractions) == ["half", "nowhere", "decimal"]


def test_a_file_names_only_modules_that_the_user_has_named(fractions, monkeypatch):
    monkeypatch.setattr(registry, "_named_modules", set())
    monkeypatch.delitem(sys.modules, "this", raising=False)
    with pytest.raises(SettingError, match=r"^number 'this:c' is code outside .* set modules=\[this\]$"):
        fractions.check_recorded("this:c")
    assert "this" not in sys.modules
    fractions.check_recorded("half")
    registry.name_modules(["this"])
    fractions.check_recorded("this:c")
    assert registry.named_modules() == ("this",)


def test_an_object_without_the_attributes_of_its_kind_is_refused():
    numbers = Registry("number", {}, attributes=("numerator", "limit_denominator"))
    assert numbers["fractions:Fraction"]
    with pytest.raises(SettingError, match=r"^number 'decimal:Decimal' has no attribute numerator, which every number"):
        numbers["decimal:Decimal"]
