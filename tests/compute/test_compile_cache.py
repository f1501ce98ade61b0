"""Compiled code on disk: damaged files are compiled again, and an unsafe or full folder is not used."""

import os
import pickle
import time
from importlib.util import module_from_spec, spec_from_file_location

import numba
import pytest

from selfplay.compute.compilation import compiled, part_of_compiled, recursive_part
from selfplay.compute.compile_cache import DAYS_KEPT, cache_folder, remove_unused
from tests.support.disks import small_disk_at


def triple(word):
    return word * 3


def fourfold(word):
    return word * 4


@recursive_part
def sum_to(number, is_first):
    if number == 0:
        return 0
    return number + sum_to(number - 1, is_first)


@recursive_part
def sum_in_two_versions(number, is_first):
    if number == 0:
        return 0
    return number + sum_in_two_versions(number - 1, False)


def sum_of(word):
    return sum_to(word, True)


def sum_of_versions(word):
    return sum_in_two_versions(word, True)


@pytest.fixture
def caching_below(monkeypatch):
    """A function that makes the cache folder below another folder, and returns it."""

    def choose(folder):
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
        cache_folder.cache_clear()
        return cache_folder()

    yield choose
    cache_folder.cache_clear()


def hits_of(function, expected):
    """How many of the function's compiled versions come from the disk, after a call with 5."""
    dispatcher = compiled(function)
    assert dispatcher(5) == expected
    return sum(dispatcher.stats.cache_hits.values())


def flip_a_bit(path, other):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


DAMAGES = {
    "empty": lambda path, other: path.write_bytes(b""),
    "cut after the digest": lambda path, other: path.write_bytes(path.read_bytes()[:32]),
    "a pickle that does harm": lambda path, other: path.write_bytes(b"cos\nabort\n(tR."),
    "a file of another function": lambda path, other: path.write_bytes(other.read_bytes()),
    "a bit flipped": flip_a_bit,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_compiled_again_and_replaced(tmp_path, caching_below, damage):
    folder = caching_below(tmp_path)
    assert [hits_of(triple, 15), hits_of(triple, 15), hits_of(fourfold, 20)] == [0, 1, 0]
    other, path = sorted(folder.iterdir())
    DAMAGES[damage](path, other)
    damaged = path.read_bytes()
    assert hits_of(triple, 15) == 0
    assert path.read_bytes() != damaged
    assert hits_of(triple, 15) == 1


@pytest.mark.parametrize("setting", ["OPT", "BOUNDSCHECK"])
def test_code_made_by_other_settings_of_the_compiler_is_not_loaded(tmp_path, caching_below, monkeypatch, setting):
    caching_below(tmp_path)
    assert [hits_of(triple, 15), hits_of(triple, 15)] == [0, 1]
    with monkeypatch.context() as patch:
        patch.setattr(numba.config, setting, 1)
        assert [hits_of(triple, 15), hits_of(triple, 15)] == [0, 1]
    assert hits_of(triple, 15) == 1


def function_of_file(path):
    spec = spec_from_file_location("sources", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.double


def test_copies_of_a_function_share_their_code_wherever_they_are(tmp_path, caching_below):
    caching_below(tmp_path)
    for number, comment in enumerate(("", "# a line that does nothing\n")):
        path = tmp_path / f"copy_{number}.py"
        path.write_text(f"{comment}def double(word):\n    return word * 2\n")
        assert hits_of(function_of_file(path), 10) == number


def test_code_that_has_not_been_used_for_long_is_removed(tmp_path, caching_below):
    folder = caching_below(tmp_path)
    hits_of(triple, 15)
    hits_of(fourfold, 20)
    of_triple, of_fourfold = sorted(folder.glob("*.code"), reverse=True)
    (old := folder.with_name("numba-of-an-old-version")).mkdir()
    (old / "old.code").touch()
    for path in (of_triple, of_fourfold, old / "old.code"):
        os.utime(path, (0, time.time() - (DAYS_KEPT + 1) * 24 * 3600))
    assert hits_of(triple, 15) == 1
    remove_unused.cache_clear()
    hits_of(sum_of, 15)
    assert of_triple.exists()
    assert not of_fourfold.exists()
    assert not old.exists()


def test_a_recursive_function_is_cached_unless_it_calls_another_version_of_itself(tmp_path, caching_below):
    caching_below(tmp_path)
    assert [hits_of(sum_of, 15), hits_of(sum_of, 15)] == [0, 1]
    # Loaded from the disk, it would crash: the address of the other version is missing there.
    assert [hits_of(sum_of_versions, 15), hits_of(sum_of_versions, 15)] == [0, 0]


def make_group_writable(folder):
    folder.chmod(0o770)


def give_away(folder):
    if os.geteuid() != 0:
        pytest.skip("only root may give a folder away")
    os.chown(folder, 12345, 12345)


UNSAFE = {
    "group may write": make_group_writable,
    "another owner": give_away,
    "parent of another owner": lambda folder: give_away(folder.parent),
}


@pytest.mark.parametrize("unsafe", UNSAFE)
def test_a_folder_that_others_may_use_is_not_used(tmp_path, caching_below, unsafe, caplog):
    caplog.set_level("INFO", logger="selfplay")
    folder = caching_below(tmp_path)
    hits_of(triple, 15)
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    UNSAFE[unsafe](folder)
    assert caching_below(tmp_path) is None
    assert [hits_of(triple, 15), hits_of(triple, 15)] == [0, 0]
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before
    (message,) = caplog.messages
    assert message.startswith("compiled code is not cached, so programs start more slowly: ")
    assert str(tmp_path) in message


def test_a_full_disk_leaves_the_code_in_memory(tmp_path, caching_below, caplog):
    caplog.set_level("INFO", logger="selfplay")
    with small_disk_at(tmp_path, "16k"):
        folder = caching_below(tmp_path)
        (tmp_path / "filler").write_bytes(bytes(os.statvfs(tmp_path).f_bavail * 4096 - 4096))
        assert [hits_of(triple, 15), hits_of(triple, 15)] == [0, 0]
        assert list(folder.iterdir()) == []
    (message,) = caplog.messages
    assert message.endswith(f"{folder}: No space left on device")


def test_functions_with_equal_closures_share_their_code_whatever_objects_the_closures_share(caching_below, tmp_path):
    def adding(terms):
        def function(word):
            return word + terms[0][0] + terms[1][1]

        return function

    caching_below(tmp_path)
    pair, equal_pair = (1, 2), tuple(int(number) for number in "12")
    # A pickle refers to an object that occurs twice, but holds two equal objects in full.
    assert hits_of(adding((pair, pair)), 8) == 0
    assert hits_of(adding((pair, equal_pair)), 8) == 1
    assert hits_of(adding((pair, (1, 3))), 9) == 0


@part_of_compiled
def doubled(number):
    return 2 * number


def test_functions_have_their_own_names_after_they_were_compiled(tmp_path, monkeypatch):
    monkeypatch.setattr("selfplay.compute.compile_cache.cache_folder", lambda: tmp_path)
    monkeypatch.setattr("selfplay.compute.compilation.cache_folder", lambda: tmp_path)

    @compiled
    def quadrupled(number):
        return doubled(doubled(number))

    assert quadrupled(3) == 12
    assert [path.suffix for path in tmp_path.iterdir()].count(".code") == 1
    # It would not be found by another name.
    assert pickle.loads(pickle.dumps(doubled)) is doubled
