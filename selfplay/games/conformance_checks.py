"""The checks of `check_game`, each of which raises ConformanceError for the first violation that it finds."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from itertools import product

import numpy as np
import torch
from torch import Tensor

from selfplay.compute.positions import Packed, field_values, packed_fields
from selfplay.errors import ConformanceError, IllegalActionError, RuleError
from selfplay.games.conformance_matches import MATCHES, Transition, check_length, compare_singly
from selfplay.games.conformance_symmetries import check_symmetries
from selfplay.games.game import Game
from selfplay.games.move_texts import MoveTexts
from selfplay.games.rules import ended
from selfplay.games.single_positions import check_none_legal, expect, positions_in
from selfplay.games.state import State

SINGLE_MATCHES = 4
"""Number of matches that are also checked one by one, which is slow."""
ALL_PLIES, LATER_PLIES = 100, 20
"""The first plies of a match are all checked one by one, and each of so many later ones."""
MOST_LEGAL_TRIED = 8192
"""About how many legal actions of a ply are tried; if all matches have more, only in the plies checked one by one."""
ILLEGAL_TRIED = 10
"""About how many illegal actions of a position are tried."""
REPEATED = (
    "positions can repeat, so matches need not end; count the plies in a field of the position and end the match at a "
    "limit: docs/adding_a_game.md, Games whose positions can repeat"
)


def _require_refused(function: Callable[[], object], fault: str) -> None:
    try:
        with suppress(RuleError):  # of an illegal action
            function()
    except IllegalActionError:
        return
    raise ConformanceError(fault)


def _is_checked_singly(ply: int) -> bool:
    return ply < ALL_PLIES or ply % LATER_PLIES == 0


def _same(state: State, other: State) -> bool:
    return all(a.dtype == b.dtype and torch.equal(a, b) for a, b in zip(state, other, strict=True))


def _check_legality(game: Game, plies: Sequence[Transition]) -> None:
    """No action is legal where the match is over, at least one elsewhere; `step` accepts exactly the legal ones."""
    was_legal = torch.ones(SINGLE_MATCHES, game.num_distinct_actions, dtype=torch.bool)
    for ply, (state, _, _) in enumerate(plies):
        mask = game.legal_action_mask(state)
        expect(not mask[state.terminated].any(), f"an action is legal in a match that is over at ply {ply}")
        expect(bool(mask[~state.terminated].any(dim=1).all()), f"no action is legal in a match at ply {ply}")
        rows, actions = mask.nonzero(as_tuple=True)
        every = max(1, len(rows) // MOST_LEGAL_TRIED)
        if every == 1 or _is_checked_singly(ply):
            game.step(state.select(rows[::every]), actions[::every])
        outside = (-1, game.num_distinct_actions) if ply == 0 else ()
        if not _is_checked_singly(ply):
            continue
        for row in (~state.terminated[:SINGLE_MATCHES]).nonzero()[:, 0].tolist():
            # Those that were legal before this ply, in games with many actions only some of them.
            single, illegal = state.select(torch.tensor([row])), (was_legal[row] & ~mask[row]).nonzero()[:, 0].tolist()
            for action in (*illegal[:: max(1, len(illegal) // ILLEGAL_TRIED)], *outside):
                step = partial(game.step, single, torch.tensor([action]))
                _require_refused(step, f"step accepts the illegal action {action}")
        was_legal = mask[:SINGLE_MATCHES]
    final = plies[-1].following
    ended = final.select(final.terminated)
    for position in game.positions(ended):
        check_none_legal(game, position)
    expect(not game.legal_action_mask(ended).any(), "an action is legal after the end")


def _check_perspective(game: Game, plies: Sequence[Transition]) -> None:
    """Players take turns unless one moves again, and `returns` are those of player 0."""
    expect(not plies[0].state.current_player.any(), "player 0 does not move first")
    has_planes = len(game.observation_shape) == 3 and game.observation_shape[0] == 2
    swaps = has_planes and {*game.rules.position._fields} == {"own", "opp"}
    for ply, (state, action, _) in enumerate(plies):
        following = game.step(state, action)
        _check_turns(game, state, following, ply)
        _check_returns(game, following, ply)
        if swaps and _is_checked_singly(ply):
            _check_two_planes(game, following)


def _check_turns(game: Game, state: State, following: State, ply: int) -> None:
    moves_again, on = game.rules.moves_again, ~state.terminated
    changed = following.current_player != state.current_player
    if moves_again is None:
        expect(
            bool(changed[on].all()), f"current_player does not alternate at ply {ply}; it needs the rule moves_again"
        )
        return
    for position, is_other, goes_on in zip(
        positions_in(game, following, range(SINGLE_MATCHES)), changed.tolist(), on.tolist(), strict=False
    ):
        right = not goes_on or is_other != moves_again(position)
        expect(right, f"current_player is not the one that moves_again says at ply {ply}")


def _check_returns(game: Game, state: State, ply: int) -> None:
    matches = range(SINGLE_MATCHES if _is_checked_singly(ply) else 0)
    for row, position in enumerate(positions_in(game, state, matches)):
        over, to_move = ended(game.rules, position)
        expected = -to_move if int(state.current_player[row]) else to_move
        expect(bool(state.terminated[row]) == over, f"terminated is not is_terminal after ply {ply}")
        expect(float(state.returns[row]) == expected, f"returns are not those of player 0 after ply {ply}")
    expect(set(state.returns.tolist()) <= {-1.0, 0.0, 1.0}, f"a return after ply {ply} is not -1, 0 or 1")


def _check_two_planes(game: Game, state: State) -> None:
    """Channel 0 shows the stones of the player who is not to move, channel 1 the other's."""
    of, packed = game.rules.position, state.position.numpy()
    own, opp = (field_values(of, packed, name) for name in ("own", "opp"))

    def seen(**boards: Packed) -> Tensor:
        return game.observe(state._replace(position=torch.from_numpy(packed_fields(of, boards))))

    swaps = torch.equal(seen(own=opp, opp=own), seen(own=own, opp=opp).flip(1))
    expect(swaps, "swapping own and opp does not swap the channels of the observation")
    expect(not seen(opp=opp)[:, 1].any(), "channel 0 does not show the player who has just moved")


def _check_texts(game: Game, plies: Sequence[Transition]) -> None:
    """Texts of actions are read back correctly, other texts are rejected, the example of the presentation is a match,
    and boards do not end in a newline."""
    for action in range(game.num_distinct_actions):
        text = game.action_to_string(action)
        expect(isinstance(text, str), f"action_to_string gives {text!r} for action {action}, where it must give a text")
        for text in (game.action_to_string(action), *(game.action_text(action, player) for player in (0, 1))):
            number = game.string_to_action(text)
            expect(number == action, f"action {action} is written {text!r}, which is read as action {number}")
        _check_transcript(game, action)
    for text in ("", "no such action", "-1"):
        if text not in map(game.action_to_string, range(game.num_distinct_actions)):
            _require_refused(partial(game.string_to_action, text), f"string_to_action accepts {text!r}")
    try:
        game.read_transcript(game.presentation.example)
        if plies:  # playing it is compiled
            game.position_after(game.presentation.example)
    except IllegalActionError as error:
        raise ConformanceError(f"the example of the presentation cannot be played: {error}") from error
    for state in (state for ply, (state, _, _) in enumerate(plies) if _is_checked_singly(ply)):
        board = game.presentation.board_text(state)
        expect(bool(board) and not board.endswith("\n"), "board_text is empty or ends in a newline")


def _check_transcript(game: Game, action: int) -> None:
    """A transcript that the game writes is one that it reads, unless it has its own way to read them."""
    if type(game).read_transcript is not MoveTexts.read_transcript or action == game.pass_action:
        return
    try:
        actions = game.read_transcript(text := game.write_transcript([action, action]))
    except IllegalActionError:
        actions = []
    is_read = actions == [action, action] and not text.startswith(("#", "(;")) and text[-1] not in ":;,"
    expect(
        is_read,
        f"action_to_string({action}) gives {game.action_to_string(action)!r}, and two of these moves, {text!r}, are "
        "not read as such: write it without spaces, # at its beginning and : ; , at its end, and not as the number of "
        "a move (1.)",
    )


def _check_pointed_squares(game: Game, plies: Sequence[Transition]) -> None:
    """Pointed squares are on the board; with `moves_stones`, each action with more than one moves a stone between
    two."""
    show, squares = game.presentation, range(game.num_squares or 0)
    pointed = {action: show.pointed_squares(action) for action in range(game.num_distinct_actions)}
    for number, several in pointed.items():
        on_board = all(square in squares for square in several)
        expect(on_board, f"pointed_squares({number}) gives {several!r}, which is not on the board: {squares}")
    for state, action, following in plies if show.declares_squares and show.moves_stones and game.has_stones else ():
        boards = zip(game.squares(state).tolist(), game.squares(following).tolist(), strict=True)
        for number, over, player, (before, after) in zip(
            action.tolist(), state.terminated.tolist(), state.current_player.tolist(), boards, strict=True
        ):
            own = 1 - 2 * player
            changes = sorted((before[square] == own, after[square] == own) for square in pointed[number])
            moves = over or len(changes) < 2 or changes == [(False, True), (True, False)]
            text = game.action_to_string(number)
            reason = "does not take a stone from one of two squares to the other"
            expect(moves, f"{text} {reason} (boards and actions are numbered alike for both players)")


def _check_ends(game: Game, plies: Sequence[Transition]) -> None:
    """No position repeats, matches end within `max_game_length`, and stepping a finished match changes nothing."""
    final = plies[-1].following
    packed = [list(map(tuple, state.position.tolist())) for state, _, _ in plies]
    going_on = [(~state.terminated).tolist() for state, _, _ in plies]
    check_repetition(
        [positions[row] for positions, goes_on in zip(packed, going_on, strict=True) if goes_on[row]]
        for row in range(MATCHES)
    )
    check_length(game, bool(final.terminated.all()))
    steps = (game.step, game.step_unchecked)
    for action, step in product(range(game.num_distinct_actions), steps):
        after = step(final, torch.full((MATCHES,), action))
        expect(_same(after, final), f"{step.__name__} changes a match that is over")


def check_repetition(matches: Iterable[Sequence[Hashable]]) -> None:
    """No match is in the same position twice. `matches`: the positions of each match, ply after ply, but the last."""
    for positions in matches:
        met = dict[Hashable, int]()
        for ply, position in enumerate(positions):
            first = met.setdefault(position, ply)
            expect(first == ply, f"the position after ply {first} is met again after ply {ply}: {REPEATED}")


def _check_both_ways(game: Game, plies: Sequence[Transition]) -> None:
    """Compiled rules, and rules that are called with single positions, give the same results."""
    for ply, (state, action, following) in enumerate(plies):
        for step in (game.step, game.step_unchecked):
            expect(_same(step(state, action), following), f"{step.__name__} differs from the compiled rules")
        bits = game.observation_bits(following)
        expect(bits.dtype == torch.uint8, "observation_bits are not uint8")
        seen = game.observation_codec.entries.scaled(bits).reshape(-1, *game.observation_shape)
        expect(torch.equal(game.observe(following), seen), "observe differs from observation_bits")
        if _is_checked_singly(ply):
            running = (~state.terminated[:SINGLE_MATCHES]).nonzero()[:, 0].tolist()
            compare_singly(game, Transition(state, action, following), running, ply)


def _check_codec(game: Game, plies: Sequence[Transition]) -> None:
    """Observations can be packed and, if they show all of a position, unpacked into it."""
    codec = game.observation_codec
    for following in (following for ply, (*_, following) in enumerate(plies) if _is_checked_singly(ply)):
        positions = following.position.numpy()
        packed = codec.pack(positions)
        bits = np.packbits(game.observation_bits(following).numpy(), axis=1)
        expect(np.array_equal(packed, bits), "pack differs from observation_bits")
        if codec.shows_all:
            unpacked = np.array_equal(codec.unpack(packed), positions)
            expect(unpacked, "unpack does not give the positions whose observations pack has given")


CHECKS: dict[str, Callable[[Game, Sequence[Transition]], None]] = {
    # First, because refusals of illegal actions look at these squares.
    "pointed squares": _check_pointed_squares,
    "legality": _check_legality,
    "perspective": _check_perspective,
    "symmetries": check_symmetries,
    "texts": _check_texts,
    "ends": _check_ends,
    "two ways": _check_both_ways,
    "observation codec": _check_codec,
}
