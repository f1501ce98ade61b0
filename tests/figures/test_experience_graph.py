"""The picture of an experience graph: boards, layers, arrows; and the programs for the store."""

from itertools import combinations
from pathlib import Path

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from selfplay.experience.store import ExperienceStore
from selfplay.figures.experience_graph import boards_ahead, picture_of
from selfplay.settings.classical import PictureSettings
from tests.figures.test_layout import overlap
from tests.support.experience_tools import GAME, learn, new_store, random_match
from tests.support.runs import COMMAND, run_forked


@pytest.fixture
def store(tmp_path):
    store = new_store(tmp_path)
    for seed in range(150):
        learn(store, random_match(seed))
    return store


def test_the_strongest_boards_are_shown_up_to_the_given_depth_and_width(store):
    ahead = boards_ahead(store, (0,) * 9, PictureSettings(file=None, depth=3, breadth=[4, 2]))
    boards, by_layer = store.boards(), [[0], [], [], []]
    for number, parent in ahead.parents.items():
        if parent is not None:
            layer = next(ply for ply, layer in enumerate(by_layer) if parent in layer)
            by_layer[layer + 1].append(number)
    assert [len(layer) for layer in by_layer[:3]] == [1, 4, 8]
    assert 8 < len(by_layer[3]) <= 16
    for parent in by_layer[0] + by_layer[1] + by_layer[2]:
        shown = [child for number, child in ahead.moves if number == parent]
        left_out = set(boards[parent].following) - set(shown)
        assert ahead.hidden(parent) == len(left_out)
        weakest = min((abs(boards[child].score) for child in shown), default=0)
        assert all(abs(boards[child].score) <= weakest for child in left_out)


def test_no_text_of_the_picture_is_cut_off_or_covers_another(store):
    ahead = boards_ahead(store, (0,) * 9, PictureSettings(file=None))
    figure = picture_of(ahead)
    FigureCanvasAgg(figure).draw()
    title, *_ = texts = sorted(figure.axes[0].texts, key=lambda text: -text.get_window_extent().y0)
    assert title.get_text() == f"Boards that follow in the experience graph: {len(ahead.parents) - 1} shown"
    assert any(text.get_text().endswith(" more") for text in texts)
    assert {"better for X", "better for O", "even"} <= {text.get_text() for text in texts}
    places = [text.get_window_extent() for text in texts]
    for place in places:
        assert figure.bbox.x0 <= place.x0 < place.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= place.y0 < place.y1 <= figure.bbox.y1
    assert not any(overlap(one, other) for one, other in combinations(places, 2))


@pytest.fixture(autouse=True)
def no_screen(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")


def run(action, *arguments):
    return run_forked(COMMAND, f"{action}-experience", *arguments)


def test_the_programs_write_the_picture_and_the_json_and_import_it_into_another_store(store, tmp_path):
    where = (f"run_dir={tmp_path}", f"experience.path={tmp_path / 'store.sqlite'}")
    done = run("draw", *where, 'picture.after=["1,1"]', "picture.depth=2")
    assert done.returncode == 0, done.stderr
    counts, nodes, edges, degrees, wrote = done.stdout.splitlines()
    assert wrote == f"wrote {tmp_path / 'figures' / 'experience.png'}"
    degree = [int(part.split(": ")[1]) for part in degrees.removeprefix("degrees of the nodes: ").split(", ")]
    number_of_edges = len(edges.removeprefix("edges, with weights: ").split(", "))
    assert counts == f"boards (nodes): {len(degree)}, moves (edges): {number_of_edges}"
    assert len(nodes.removeprefix("nodes, with scores: ").split(", ")) == len(degree)
    assert sum(degree) == 2 * number_of_edges
    with Image.open(tmp_path / "figures" / "experience.png") as image:
        assert image.width > 600
        assert image.height > 500
    done = run("export", *where)
    assert done.stdout == f"wrote {tmp_path / 'experience.json'}: {len(store)} boards\n"
    done = run("import", f"run_dir={tmp_path}", "experience=minimax")
    assert done.stdout == f"{tmp_path / 'experience_minimax.sqlite'} now has {len(store)} boards\n", done.stderr
    other = ExperienceStore(tmp_path / "experience_minimax.sqlite", GAME, must_exist=True)
    assert other.rule.backup == "minimax"
    assert len(other) == len(store)


def test_errors_are_reported_in_one_line(tmp_path):
    action, arguments, code, message = "draw", ["picture.file=null"], 2, "no display is available; set a file"
    learn(new_store(tmp_path), [0, 3, 1, 4, 2])
    done = run(action, f"run_dir={tmp_path}", f"experience.path={tmp_path / 'store.sqlite'}", *arguments)
    assert done.returncode == code
    assert done.stderr.startswith("error: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not Path("none.sqlite").exists()
