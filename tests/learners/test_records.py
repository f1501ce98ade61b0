"""Learning from recorded matches: the rows of files are those of the same matches played, and broken matches are
named."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from selfplay.api.stages import generate_level, learn_levels, train_level
from selfplay.dataset.match_rows import discounted_rows
from selfplay.dataset.rows import Rows, concatenate
from selfplay.errors import SelfPlayError
from selfplay.executors import ExecutorOptions, SerialExecutor
from selfplay.games import Game, make_game
from selfplay.games.match import Match
from selfplay.games.state import MatchRecord
from selfplay.learners.learner import LevelInputs, Resources
from selfplay.learners.records import Records
from selfplay.records import FORMATS, Record
from selfplay.records.wthor import HEADER, MATCH
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.run import compose_settings
from tests.support.dataset_tools import read_dataset
from tests.support.runs import report_of_comparison, tiny_settings
from tests.support.wthor_files import random_matches, wthor_file

GAME = make_game("othello_6x6")
FIRST_MOVE, DISCS = HEADER.itemsize + MATCH.fields["moves"][1], HEADER.itemsize + MATCH.fields["discs"][1]


@cache
def played_matches() -> MatchRecord:
    """Not played before a test needs them."""
    return random_matches(GAME, 40)


def generated(learner: Records, batch_size: int | None = None, game: Game = GAME) -> tuple[Rows, list[str]]:
    """The rows of all matches of the files, and what is said about those that are skipped."""
    skipped = list[str]()
    source = learner.source(game, 0)
    resources = Resources(
        batch_size=batch_size, on_skipped=lambda match, reason: skipped.append(f"{source.place(match)}: {reason}")
    )
    return concatenate(list(learner.generate(LevelInputs(game, resources=resources), range(source.matches)))), skipped


def stops(content: bytearray, match: int, moves: int) -> None:
    """Let a match stop after this number of moves."""
    begin = FIRST_MOVE + match * MATCH.itemsize
    content[begin + moves : begin + 60] = bytes(60 - moves)


def assert_same(found: Rows, expected: Rows) -> None:
    for name in ("match", "ply", "position", "target"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)


@pytest.mark.parametrize("outcome", ["return", "disc_difference"])
def test_rows_of_a_file_are_those_of_its_matches(tmp_path: Path, outcome: str) -> None:
    content = wthor_file(GAME, played_matches())
    (tmp_path / "all.wtb").write_bytes(content)
    found, skipped = generated(Records(files=[str(tmp_path / "*.wtb")], gamma=0.9, outcome=outcome), batch_size=7)
    expected = discounted_rows(GAME, played_matches(), 0.9)
    if outcome == "disc_difference":
        lead = GAME.score(played_matches().states[-1]).numpy()[expected.match] / 36
        expected = expected._replace(target=np.float32(np.abs(lead)) * expected.target)
        np.testing.assert_allclose(found.target, expected.target, atol=1e-6)
        expected = expected._replace(target=found.target)
    assert_same(found, expected)
    assert skipped == []


def texts_of(game: Game, ending: str, record: MatchRecord) -> list[str]:
    """Each match in the format with this ending."""
    return [
        FORMATS[ending].write(Record(Match(game).play_all(record.actions_of(row)))) for row in range(len(record.match))
    ]


@pytest.mark.parametrize(
    ("name", "ending"), [("othello_6x6", "txt"), ("othello_6x6", "pgn"), ("othello_6x6", "ggf"), ("go_3x3", "sgf")]
)
def test_rows_of_texts_are_those_of_their_matches(tmp_path: Path, name: str, ending: str) -> None:
    game = make_game(name)
    played = random_matches(game, 12)
    texts = texts_of(game, ending, played)
    # Several matches in a file, and one in each.
    (tmp_path / f"a.{ending}").write_text("\n".join(texts[:5]))
    for number, text in enumerate(texts[5:]):
        (tmp_path / f"b{number}.{ending}").write_text(text)
    found, skipped = generated(Records(files=[str(tmp_path / f"*.{ending}")]), batch_size=7, game=game)
    assert_same(found, discounted_rows(game, played))
    assert skipped == []


@pytest.mark.parametrize(
    ("name", "ending", "text", "places"),
    [
        ("othello_6x6", "txt", "c2\ne9 +4\na1 +4\nc2 f6 20-16\nc2 +4", [1, 2, 3, 4]),
        ("othello_6x6", "pgn", '[Result "*"]\n\n1. c2 *\n\n[Result "20-16"]\n1. c2 {good} $1 (1. d5) 20-16\n', [1]),
        (
            "othello_6x6",
            "ggf",
            "(;GM[Go];)\n2 (;GM[Othello]TY[6]BO[6 --------------O*----*O-------------- *]RE[+4:r]B[c2];)",
            [1],
        ),
        (
            "go_3x3",
            "sgf",
            "(;GM[1]SZ[3]RE[B+2];B[bb])(;GM[1]SZ[3];B[bb])(;GM[1]SZ[5]RE[B+R];B[bb])"
            # Moves of one colour, more moves than a match can have, and a match that is cut off.
            "(;GM[1]SZ[3]RE[W+R];B[aa];B[bb])(;GM[1]SZ[3]RE[W+R]" + ";B[aa];W[bb]" * 60 + ")(;GM[1]SZ[3",
            [2, 3, 4, 5, 6],
        ),
        ("go_3x3", "sgf", "(;GM[1]SZ[3]KM[6.5]C[(]RE[W+R];B[bb];W[aa])(;GM[1]SZ[3]KM[6.5];B[bb])", [2]),
    ],
)
def test_broken_texts_are_skipped_and_named(
    tmp_path: Path, name: str, ending: str, text: str, places: list[int]
) -> None:
    path = tmp_path / f"file.{ending}"
    path.write_text(text)
    rows, skipped = generated(Records(files=[str(path)]), game=make_game(name))
    named = [re.fullmatch(rf"{re.escape(str(path))}, match (\d+): .+", line) for line in skipped]
    assert [int(found[1]) for found in named if found] == places, skipped
    assert len(rows.match) > 0
    assert not np.isin(rows.match, np.array(places) - 1).any()


def test_results_of_records_count_where_the_rules_end_no_match(tmp_path: Path) -> None:
    """A match that was given up; one of Go, whose players agreed on dead stones."""
    path = tmp_path / "file.sgf"
    path.write_text("(;GM[1]SZ[3]RE[W+R];B[bb])(;GM[1]SZ[3]RE[W+1.5];B[bb];W[];B[])")
    found, _ = generated(Records(files=[str(path)]), game=make_game("go_3x3"))
    assert found.target.tolist() == [-1, -1, 1, -1]


def test_a_match_without_moves_is_named(tmp_path: Path) -> None:
    path = tmp_path / "file.pgn"
    path.write_text('[Result "20-16"]\n\n20-16\n\n[Result "20-16"]\n\n1. c2 20-16\n')
    found, skipped = generated(Records(files=[str(path)]))
    assert (set(found.match.tolist()), skipped) == ({1}, [f"{path}, match 1: has no moves"])


def test_only_a_pass_may_follow_the_end_of_a_match(tmp_path: Path) -> None:
    path, ended = tmp_path / "file.sgf", "(;GM[1]SZ[3]RE[B+2];B[bb];W[];B[]"
    path.write_text(f"{ended};W[]){ended};W[aa])")
    found, skipped = generated(Records(files=[str(path)]), game=make_game("go_3x3"))
    assert set(found.match.tolist()) == {0}
    assert skipped == [f"{path}, match 2: has moves after its end"]


def test_moves_become_policies(tmp_path: Path) -> None:
    (tmp_path / "all.wtb").write_bytes(wthor_file(GAME, played_matches()))
    found, _ = generated(Records(files=[str(tmp_path / "all.wtb")], policies=True), batch_size=16)
    actions = [action for row in range(len(played_matches().match)) for action in played_matches().actions_of(row)]
    assert found.policy is not None
    assert found.policy.argmax(axis=1).tolist() == actions
    assert (found.policy.sum(axis=1) == 1).all()
    assert found.ply[:3].tolist() == [-1, 0, 1]
    rows = discounted_rows(GAME, played_matches())
    expected = {(match, ply): target for match, ply, target in zip(rows.match, rows.ply, rows.target, strict=True)}
    after_moves = [
        ((match, ply), target)
        for match, ply, target in zip(found.match, found.ply, found.target, strict=True)
        if (match, ply) in expected
    ]
    # All positions after moves, but for the ends of the matches.
    assert len(after_moves) == len(expected) - len(played_matches().match)
    assert all(expected[place] == target for place, target in after_moves)


def test_broken_matches_are_skipped_and_named(tmp_path: Path) -> None:
    content = bytearray(wthor_file(GAME, played_matches()))
    content[FIRST_MOVE + 3 * MATCH.itemsize] = 11  # a1 is not legal
    content[FIRST_MOVE + 5 * MATCH.itemsize + 2] = 99  # not on the board
    content[FIRST_MOVE + 7 * MATCH.itemsize + 2] = 0  # no move, but others follow
    content[DISCS + 8 * MATCH.itemsize] = 200
    stops(content, 8, 2)
    path = tmp_path / "broken.wtb"
    path.write_bytes(content)
    found, skipped = generated(Records(files=[str(path)]))
    expected = discounted_rows(GAME, played_matches())
    assert_same(found, expected.select(~np.isin(expected.match, [3, 5, 7, 8])))
    assert skipped == [
        f"{path}, match 4: move 1, a1, is not legal",
        f"{path}, match 6: move 3, off the board, is not legal",
        f"{path}, match 8: move 3, off the board, is not legal",
        f"{path}, match 9: has a result that is not possible",
    ]


def test_a_match_that_stops_early_has_the_written_result(tmp_path: Path) -> None:
    content = bytearray(wthor_file(GAME, played_matches()))
    stops(content, 0, 4)
    content[DISCS] = 30
    (tmp_path / "early.wtb").write_bytes(content)
    found, _ = generated(Records(files=[str(tmp_path / "early.wtb")], outcome="disc_difference"))
    first = found.select(found.match == 0)
    np.testing.assert_allclose(first.target, np.float32([1, -1, 1, -1]) * 24 / 36)


SETTINGS = [
    "game=othello_6x6",
    "architecture=mlp",
    "architecture.hidden_sizes=[8]",
    "learner=records",
    "levels=2",
    "matches=30",
    "dataset.shard_matches=16",
    "batch_size=16",
    "from_level={2:{learner:values,learner.epochs:1}}",
]


def test_levels_after_records_learn_from_self_play(tmp_path: Path) -> None:
    (tmp_path / "all.wtb").write_bytes(wthor_file(GAME, played_matches()))
    run = RunFolder(tmp_path / "run")
    settings = tiny_settings(run.path, *SETTINGS, f"learner.files=['{tmp_path}/all.wtb']", "learner.epochs=1")
    for level in range(2):
        assert generate_level(settings, level)
        assert train_level(settings, level + 1)
    rows = read_dataset(run.dataset(0), GAME.observation_codec)
    assert_same(rows, discounted_rows(GAME, played_matches()))
    counts = [Manifest(run.level(level)).sections["generation"]["counts"]["matches"] for level in range(2)]
    assert counts == [40, 30]
    assert not generate_level(settings, 0)
    assert not train_level(settings, 1)


def broken_file(folder: Path) -> Path:
    """Matches of which the first and the last one are broken."""
    content, path = bytearray(wthor_file(GAME, played_matches())), folder / "all.wtb"
    for match in (0, 39):
        content[FIRST_MOVE + match * MATCH.itemsize] = 11
    path.write_bytes(content)
    return path


class StopsAfterOne(SerialExecutor):
    def map(self, function: Any, tasks: Any, files: Any = None) -> Iterator[Any]:
        yield next(super().map(function, tasks, files))
        raise KeyboardInterrupt


def test_an_interrupted_run_also_names_what_was_skipped_before(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = broken_file(tmp_path)
    settings = tiny_settings(tmp_path / "run", *SETTINGS, f"learner.files=['{path}']", "dataset.format=parquet")
    with pytest.raises(KeyboardInterrupt):
        generate_level(settings, 0, executor=StopsAfterOne(ExecutorOptions()))
    caplog.clear()
    with caplog.at_level("INFO"):
        assert generate_level(settings, 0)
    assert "1 of 3 shards already written" in caplog.text
    for match in (1, 40):
        assert f"skipped {path}, match {match}: move 1, a1, is not legal" in caplog.text
    assert "skipped 2 of 40 recorded matches" in caplog.text


class OnAnotherMachine(SerialExecutor):
    """Gives tasks copies of their files, and takes the records away."""

    def __init__(self, folder: Path, records: Path) -> None:
        super().__init__(ExecutorOptions())
        self.folder, self.records = folder, records

    def map(self, function: Any, tasks: Any, files: Any = None) -> Iterator[Any]:
        for name, path in files.paths.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_bytes(path.read_bytes())
        self.records.rename(self.records.with_suffix(".gone"))
        return super().map(function, [files.moved(task, self.folder) for task in tasks])


def test_workers_on_other_machines_are_sent_the_records(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = broken_file(tmp_path)
    run = RunFolder(tmp_path / "run")
    settings = tiny_settings(run.path, *SETTINGS, f"learner.files=['{tmp_path}/*.wtb']")
    assert generate_level(settings, 0, executor=OnAnotherMachine(tmp_path / "elsewhere", path))
    rows = discounted_rows(GAME, played_matches())
    assert_same(read_dataset(run.dataset(0), GAME.observation_codec), rows.select(~np.isin(rows.match, [0, 39])))
    assert f"skipped {path}, match 40: move 1" in caplog.text


@pytest.mark.slow
def test_the_recipe_says_what_records_gain_against_the_agent_that_comes_with_the_program(tmp_path: Path) -> None:
    """The levels and the agent look one ply ahead."""
    game = make_game("othello")
    (tmp_path / "all.wtb").write_bytes(wthor_file(game, random_matches(game, 40)))
    settings = compose_settings(
        [
            "recipe=othello_records",
            f"learner.files=['{tmp_path}/*.wtb']",
            *("levels=1", "learner.epochs=1", "learner.steps_per_epoch=2", "learner.batch_size=64"),
            *("comparison.matches=10", "comparison.endgames=0", f"run_dir={tmp_path / 'run'}"),
        ]
    )
    learn_levels(settings)
    assert "of 10 matches against pretrained" in " ".join(report_of_comparison(settings).split())


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (None, b"", r"learner\.files=.*none\.wtb: there is no such file"),
        ("short.wtb", b"abc", r"short\.wtb: is not a WTHOR file"),
        ("cut.wtb", wthor_file(GAME, random_matches(GAME, 1))[:-1], r"cut\.wtb: is not a whole WTHOR file"),
        ("large.wtb", bytes(HEADER.itemsize), r"large\.wtb: has matches of Othello on 8x8 squares, not of othello_6x6"),
        ("empty.wtb", bytes(12) + b"\6\0\0\0", r"there are no matches"),
        (
            "bad.txt",
            b"a1 +4\nf7 +4",
            r"none of the 2 recorded matches can be learned from: .*bad\.txt, match 1: move 1, a1",
        ),
        ("file.xyz", b"abc", r"file\.xyz: the name must end with one of \.wtb, \.pgn"),
    ],
)
def test_unsuitable_files_are_refused(tmp_path: Path, name: str | None, content: bytes, message: str) -> None:
    path = tmp_path / (name or "none.wtb")
    if name:
        path.write_bytes(content)
    settings = tiny_settings(tmp_path / "run", *SETTINGS, f"learner.files=['{path}']")
    with pytest.raises(SelfPlayError, match=message):
        generate_level(settings, 0)
    assert not (tmp_path / "run" / "level_00" / "manifest.json").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["from_level={}"], "only level 1 learns from records, not level 2; set levels=1"),
        (["learner.policies=true"], "architecture=mlp has no policy head, which learner.policies=true trains"),
        (["learner.files=[]"], "learner.files=.*needs files of matches"),
    ],
)
def test_settings_that_do_not_suit_are_refused(tmp_path: Path, changes: list[str], message: str) -> None:
    (tmp_path / "all.wtb").write_bytes(wthor_file(GAME, played_matches()))
    settings = tiny_settings(tmp_path / "run", *SETTINGS, f"learner.files=['{tmp_path}/all.wtb']", *changes)
    with pytest.raises(SelfPlayError, match=message):
        learn_levels(settings)
