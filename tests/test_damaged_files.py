"""Damaged files: a reader returns, or raises one line that the user understands; no file changes."""

import os
import random
import re
import resource
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from selfplay.agents.checkpoints import load_checkpoint
from selfplay.errors import InvalidFileError, SelfPlayError
from selfplay.experience.json_file import export_json, import_json
from selfplay.experience.rule import ExperienceRule
from selfplay.experience.store import ExperienceStore
from selfplay.files import FileFormat
from selfplay.games import make_game
from selfplay.games.match import Match
from selfplay.games.position_graph import positions_of
from selfplay.grading.comparison import level_columns
from selfplay.records import record_of, written_record
from selfplay.runs.finished_runs import level_table, read_level_table, read_runs
from selfplay.runs.folders import CONFIG_FOLDER
from selfplay.runs.manifest import Manifest
from selfplay.search.feature_evaluation import read_evaluation
from selfplay.tables import read_rows
from selfplay.tabular.learning import TEMPORAL_DIFFERENCE, initial_values
from selfplay.tabular.table_file import load_tables, save_tables
from selfplay.training.epochs import read_epochs
from tests.support.dataset_tools import read_dataset
from tests.support.experience_tools import GAME, boards_of, random_match, result_of
from tests.support.runs import files_of

RUN = Path(__file__).parent / "data" / "finished_run"
GRAPH = positions_of("tictactoe")
PER_READER = 8
SECONDS = 10  # of processor time
GIGABYTE = 1 << (20 if sys.platform == "linux" else 30)  # ru_maxrss counts kilobytes on Linux, bytes on macOS

NUMBERS = [b"nan", b"inf", b"-1", b"1e400", b"1" * 5000, b"-" + b"9" * 30, b"[" * 3000, b'{"a":' * 300, b"true", b'""']
BYTES = [b"\x00", b"\xff\xfe", b"\n", b",", b'"', b"*a", b"&a", b"${x}", b"!!int ", b"\xc2\xb2", b"]", b"}"]


def test_a_byte_order_mark_of_an_editor_is_not_part_of_the_text(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}')
    form = FileFormat("a file", dict)
    assert form.read_json(path) == form.read_yaml(path) == {"a": 1}


def damaged(content: bytes, chance: random.Random) -> bytes:
    """`content` with one to three random changes."""
    for _ in range(chance.randint(1, 3)):
        start, end = sorted(chance.choices(range(len(content) + 1), k=2))
        end = min(end, start + chance.choice([1, 4, 64, 4096]))
        kind = chance.randrange(8)
        if kind == 0:
            content = content[:start]
        elif kind == 1:
            content = content[:start] + content[end:]
        elif kind == 2:
            content = content[:end] + content[start:]
        elif kind == 3:
            content = content[:start] + chance.randbytes(end - start) + content[end:]
        elif kind == 4:
            content = content[:start] + chance.choice(BYTES) + content[start:]
        elif kind == 5:
            content = content[:start] + bytes(end - start) + content[end:]
        elif found := list(re.finditer(rb"[0-9.]+", content)):
            number = chance.choice(found)
            content = content[: number.start()] + chance.choice(NUMBERS) + content[number.end() :]
    return content


def written_tables(path: Path) -> None:
    save_tables(path, GRAPH, initial_values(GRAPH, TEMPORAL_DIFFERENCE), TEMPORAL_DIFFERENCE, {"step_size": 0.1})


def written_boards(path: Path) -> None:
    store = ExperienceStore(path.with_name("made.sqlite"), GAME, ExperienceRule())
    for seed in range(4):
        boards = boards_of(random_match(seed))
        store.learn(boards, result_of(boards[-1]) or 0, (0, 1))
    export_json(store, path)
    store.close()


def read_boards(path: Path) -> None:
    store = ExperienceStore(path.with_name("read.sqlite"), GAME, ExperienceRule())
    try:
        import_json(store, path)
    finally:
        store.close()


TICTACTOE, OTHELLO = make_game("tictactoe"), make_game("othello")


def written_match(path: Path) -> None:
    actions = OTHELLO.read_transcript("f5d6c3d3c4f4")
    path.write_text(written_record(record_of(Match(OTHELLO).play_all(actions), ("you", "level 3"))).text)


READERS: dict[str, tuple[Path | Callable[[Path], None], Callable[[Path], object]]] = {
    "manifest.json": (RUN / "csv" / "level_01" / "manifest.json", lambda path: Manifest(path.parent)),
    "agent.safetensors": (
        RUN / "csv" / "level_01" / "agent.safetensors",
        lambda path: load_checkpoint(path, TICTACTOE),
    ),
    "dataset.csv": (
        RUN / "csv" / "level_01" / "dataset.csv",
        lambda path: read_dataset(path, TICTACTOE.observation_codec),
    ),
    "dataset.parquet/part-00000.parquet": (
        RUN / "parquet" / "level_01" / "dataset.parquet" / "part-00000.parquet",
        lambda path: read_dataset(path.parent, TICTACTOE.observation_codec),
    ),
    "epoch_loss.csv": (RUN / "csv" / "level_01" / "epoch_loss.csv", read_epochs),
    "levels.csv": (RUN / "csv" / "comparison" / "levels.csv", read_level_table),
    "rows.csv": (
        RUN / "csv" / "comparison" / "levels.csv",
        lambda path: read_rows(path, level_columns(), level_table(path)),
    ),
    "evaluation.yaml": (CONFIG_FOLDER / "evaluation" / "article.yaml", lambda path: read_evaluation(path, "mine")),
    "tables.npz": (written_tables, lambda path: load_tables(path, GRAPH)),
    "boards.json": (written_boards, read_boards),
    "match.ggf": (written_match, lambda path: OTHELLO.position_after(path.read_text(errors="surrogateescape"))),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_a_damaged_file_is_read_or_rejected_in_one_line(name: str, tmp_path: Path) -> None:
    source, read = READERS[name]
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    if isinstance(source, Path):
        shutil.copy(source, path)
    else:
        source(path)
    whole = path.read_bytes()
    read(path)
    memory, rejected = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, 0
    for number in range(PER_READER):
        content = damaged(whole, random.Random(f"{name} {number}"))
        path.write_bytes(content)
        rejected += is_rejected(lambda: read(path), f"{name}, number {number}")
        assert path.read_bytes() == content, f"{name}, number {number} was changed"
    assert rejected > PER_READER // 4
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < GIGABYTE


@pytest.mark.parametrize("name", [name for name in READERS if name != "match.ggf"])
def test_a_pipe_in_place_of_a_file_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    os.mkfifo(path)
    with pytest.raises(InvalidFileError, match=rf"^{path}: is not a regular file"):
        READERS[name][1](path)


def is_rejected(read: Callable[[], object], case: str) -> bool:
    """Whether `read` raises an error that the user understands; fails if it raises another, or works long."""
    start = time.process_time()
    try:
        read()
    except SelfPlayError as error:
        message = str(error)
        assert "\n" not in message, f"{case}: {message}"
        assert len(message) < 1000, f"{case}: {message}"
        return True
    finally:
        assert time.process_time() - start < SECONDS, f"{case}: took {time.process_time() - start:.0f} s"
    return False


@pytest.mark.slow
def test_runs_with_damaged_files_are_left_out_or_compared(tmp_path: Path) -> None:
    shutil.copytree(RUN / "csv", tmp_path / "good")
    files = [path for path in sorted((RUN / "csv").rglob("*.*")) if path.suffix in (".json", ".csv")]
    for number in range(PER_READER):
        chance = random.Random(number)
        bad = tmp_path / "bad"
        shutil.copytree(RUN / "csv", bad, dirs_exist_ok=True)
        path = bad / chance.choice(files).relative_to(RUN / "csv")
        path.write_bytes(damaged(path.read_bytes(), chance))
        before = files_of(tmp_path)
        runs = read_runs(tmp_path)
        assert "good" in [run.name for run in runs.finished], path
        assert "\n" not in runs.skipped.get("bad", ""), path
        assert files_of(tmp_path) == before, path
