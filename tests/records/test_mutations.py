"""Records with random mistakes: each match is read or named as broken, and none is another one than a second reader
finds."""

import random

import pytest
import torch
from sgfmill.sgf import Sgf_game

from selfplay.games import make_game
from selfplay.games.match import Match
from selfplay.records import FORMATS, Record
from selfplay.records.checked_matches import checked_matches
from selfplay.records.match_files import TextFile
from tests.support.wthor_files import random_matches

MUTATIONS = 2500
"""In each format."""
SIGNS = "()[]{};\\\"'.,:-+x*#%$ \n\t\x00\u00e9\u9ed2" + "0123456789" + "abBWKMRESZGMHCAPL"


def mutated(text: str, chance: random.Random) -> str:
    """The text with one to three mistakes."""
    for _ in range(chance.randint(1, 3)):
        place, length = chance.randrange(len(text) + 1), chance.choice((1, 1, 2, 5, 40))
        kind = chance.randrange(5)
        part = text[place : place + length]
        new = {0: "", 1: chance.choice(SIGNS), 2: part * 2, 3: part[::-1], 4: chance.choice(SIGNS) * length}[kind]
        text = text[:place] + new + text[place + length * (kind != 1) :]
    return text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "ending"), [("go_5x5", "sgf"), ("othello_6x6", "ggf"), ("othello_6x6", "pgn"), ("draughts", "pdn")]
)
def test_every_match_is_read_or_named_as_broken(name: str, ending: str) -> None:
    game, chance = make_game(name), random.Random(0)
    played = random_matches(game, 12)
    texts = [FORMATS[ending].write(Record(Match(game).play_all(played.actions_of(row)[:60]))) for row in range(12)]
    read = compared = 0
    for number in range(MUTATIONS):
        text = mutated(texts[number % 12], chance)
        file = TextFile(text.encode("utf-8", errors="surrogatepass"), game, ending)
        moves = file.moves(slice(None))
        # Reasons are one line, and the rules decide on the rest.
        assert all(reason and "\n" not in reason for reason in moves.broken.values()), moves.broken
        assert len(moves.actions) == len(file)
        read += len(file) - len(moves.broken)
        if number % 25 == 0:
            checked_matches(game, moves, torch.arange(len(file)))
        if ending == "sgf" and len(file) == 1 and not moves.broken:
            compared += same_as_sgfmill(text, [int(action) for action in moves.actions[0] if action >= 0])
    assert read > MUTATIONS // 10
    assert compared > MUTATIONS // 10 or ending != "sgf"


def same_as_sgfmill(text: str, actions: list[int]) -> bool:
    """Compare the main line with the one that sgfmill reads. False if sgfmill does not read the text."""
    try:
        other = Sgf_game.from_string(text)
        nodes = list(other.get_main_sequence())
        found = [node.get_move() for node in nodes]
    except ValueError:
        return False
    if any(node.has_property("B") and node.has_property("W") for node in nodes):
        return False  # of two moves in a node, sgfmill knows one
    if any(node.has_property("SZ") for node in nodes[1:]):
        return False  # sgfmill knows only the size in the first node
    size = other.get_size()
    expected = [
        size * size if point is None else size * (size - 1 - point[0]) + point[1]
        for colour, point in found
        if colour is not None
    ]
    assert actions == expected, text
    return True
