"""The checks of `check_game`, each of which raises ConformanceError for the first violation that it finds."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from selfplay.compute.bit_algebra import word_of
from selfplay.compute.stored_words import parts_matrix, single_word
from selfplay.compute.words import WordInt
from selfplay.errors import ConformanceError, IllegalActionError
from selfplay.games.game import Game
from selfplay.games.rules import ended
from selfplay.games.single_positions import entries_singly, legal_numbers, played_singly, single_positions
from selfplay.games.state import State

MATCHES = 64
SINGLE_MATCHES = 4
"""Number of matches that are also checked one by one, which is slow."""
ILLEGAL_TRIED = 10
"""About how many illegal actions of a position are tried."""
REPEATED = (
    "positions can repeat, so matches need not end; count the plies in the words of a position and end the match at a "
    "limit: docs/adding_a_game.md, Games whose positions can repeat"
)
HIDDEN = (
    "the observation does not show bit {bit} of {word}, which a position uses, and datasets store positions as "
    "observations; show it as a further entry: docs/game_reference.md, The observation"
)


class Transition(NamedTuple):
    """One ply of all random matches."""

    state: State
    action: Tensor
    """int64[B]: legal actions; arbitrary where the match is over."""
    following: State


def expect(valid: bool, reason: str) -> None:
    if not valid:
        raise ConformanceError(reason)


def _require_refused(function: Callable[[], object], fault: str) -> None:
    with suppress(IllegalActionError):
        function()
        raise ConformanceError(fault)


def _same(state: State, other: State) -> bool:
    return all(a.dtype == b.dtype and torch.equal(a, b) for a, b in zip(state, other, strict=True))


def _check_legality(game: Game, plies: Sequence[Transition]) -> None:
    """No action is legal where the match is over, at least one elsewhere; `step` accepts exactly the legal ones."""
    was_legal = torch.ones(SINGLE_MATCHES, game.num_distinct_actions, dtype=torch.bool)
    for ply, (state, _, _) in enumerate(plies):
        mask = checked_mask(game, game.legal_action_mask(state), state, ply)
        rows, actions = mask.nonzero(as_tuple=True)
        game.step(state.select(rows), actions)
        outside = (-1, game.num_distinct_actions) if ply == 0 else ()
        for row in (~state.terminated[:SINGLE_MATCHES]).nonzero()[:, 0].tolist():
            # Those that were legal before this ply, in games with many actions only some of them.
            single, illegal = state.select(torch.tensor([row])), (was_legal[row] & ~mask[row]).nonzero()[:, 0].tolist()
            for action in (*illegal[:: max(1, len(illegal) // ILLEGAL_TRIED)], *outside):
                step = partial(game.step, single, torch.tensor([action]))
                _require_refused(step, f"step accepts the illegal action {action}")
        was_legal = mask[:SINGLE_MATCHES]
    final = plies[-1].following
    ended = final.select(final.terminated)
    legal = [int(game.rules.legal_actions(*words)) for words in single_positions(ended)]
    expect(not any(legal), "legal_actions are not 0 after the end")
    expect(not game.legal_action_mask(ended).any(), "an action is legal after the end")


def checked_mask(game: Game, mask: Tensor, state: State, ply: int) -> Tensor:
    """`mask`, the legal actions of positions: none where the match is over, at least one elsewhere."""
    shape = (state.batch_size, game.num_distinct_actions)
    expect(mask.dtype == torch.bool and mask.shape == shape, f"the mask is not bool{list(shape)}")
    expect(not mask[state.terminated].any(), f"an action is legal in a match that is over at ply {ply}")
    expect(bool(mask[~state.terminated].any(dim=1).all()), f"no action is legal in a match at ply {ply}")
    return mask


def _check_perspective(game: Game, plies: Sequence[Transition]) -> None:
    """Players take turns, and `returns` are those of player 0."""
    expect(not plies[0].state.current_player.any(), "player 0 does not move first")
    for ply, (state, action, _) in enumerate(plies):
        following, on = game.step(state, action), ~state.terminated
        turns = following.current_player[on] == 1 - state.current_player[on]
        expect(bool(turns.all()), f"current_player does not alternate at ply {ply}")
        _check_returns(game, following, ply)
        if len(game.observation_shape) == 3 and game.observation_shape[0] == 2:
            _check_two_planes(game, following)


def _check_returns(game: Game, state: State, ply: int) -> None:
    for row, (own, opp) in enumerate(single_positions(state, range(SINGLE_MATCHES))):
        over, to_move = ended(game.rules, own, opp)
        expected = -to_move if int(state.current_player[row]) else to_move
        expect(bool(state.terminated[row]) == over, f"terminated is not is_terminal after ply {ply}")
        expect(float(state.returns[row]) == expected, f"returns are not those of player 0 after ply {ply}")
    expect(set(state.returns.tolist()) <= {-1.0, 0.0, 1.0}, f"a return after ply {ply} is not -1, 0 or 1")


def _check_two_planes(game: Game, state: State) -> None:
    """Channel 0 shows the stones of the player who has just moved, channel 1 the other's."""
    seen = game.observe(state)
    swapped = game.observe(state._replace(own=state.opp, opp=state.own))
    expect(torch.equal(swapped, seen.flip(1)), "swapping own and opp does not swap the channels of the observation")
    just_moved = game.observe(state._replace(own=torch.zeros_like(state.own)))
    expect(not just_moved[:, 1].any(), "channel 0 does not show the player who has just moved")


def _check_symmetries(game: Game, plies: Sequence[Transition]) -> None:
    """Symmetries are permutations, the identity first, and map matches to matches with the same result."""
    actions, observations = game.symmetries
    for name, maps, size in (
        ("actions", actions, game.num_distinct_actions),
        ("observations", observations, prod(game.observation_shape)),
    ):
        expect(maps.ndim == 2 and maps.shape == (len(actions), size), f"{name} are not int64[S, {size}]")
        expect(bool((np.sort(maps, axis=1) == np.arange(size)).all()), f"{name} are not all permutations")
        expect(bool((maps[0] == np.arange(size)).all()), f"{name}[0] is not the identity")
    if not plies:
        return
    masks = [game.legal_action_mask(state) for state, *_ in plies]
    seen = [game.observation_bits(following) for *_, following in plies]
    for number, (action_map, observation_map) in enumerate(zip(actions, observations, strict=True)):
        goes_to, comes_from = torch.from_numpy(action_map), torch.from_numpy(observation_map)
        expected = zip(plies, masks, (bits[:, comes_from] for bits in seen), strict=True)
        _check_symmetry(game, number, goes_to, expected)


def _check_symmetry(
    game: Game, number: int, goes_to: Tensor, expected: Iterable[tuple[Transition, Tensor, Tensor]]
) -> None:
    """`expected`: each ply, the legal actions before it, and the image of the observation after it."""
    image = game.init(MATCHES)
    for (_, action, following), mask, bits in expected:
        masks_agree = torch.equal(game.legal_action_mask(image)[:, goes_to], mask)
        expect(masks_agree, f"symmetry {number} does not map legal actions to legal actions")
        image = game.kernels.step(image, goes_to[action])
        expect(torch.equal(game.observation_bits(image), bits), f"symmetry {number} does not map the observations")
        expect(torch.equal(image.terminated, following.terminated), f"symmetry {number} changes a match's length")
        expect(torch.equal(image.returns, following.returns), f"symmetry {number} changes the returns")


def _check_texts(game: Game, plies: Sequence[Transition]) -> None:
    """Texts of actions are read back correctly, other texts are rejected, the example of the presentation is a match,
    and boards do not end in a newline."""
    for action in range(game.num_distinct_actions):
        text = game.action_to_string(action)
        expect(isinstance(text, str), f"action_to_string gives {text!r} for action {action}, where it must give a text")
        for text in (game.action_to_string(action), *(game.action_text(action, player) for player in (0, 1))):
            number = game.string_to_action(text)
            expect(number == action, f"action {action} is written {text!r}, which is read as action {number}")
    for text in ("", "no such action", "-1"):
        if text not in map(game.action_to_string, range(game.num_distinct_actions)):
            _require_refused(partial(game.string_to_action, text), f"string_to_action accepts {text!r}")
    try:
        game.position_after(game.presentation.example)
    except IllegalActionError as error:
        raise ConformanceError(f"the example of the presentation cannot be played: {error}") from error
    for state, _, _ in plies:
        board = game.presentation.board_text(state)
        expect(bool(board) and not board.endswith("\n"), "board_text is empty or ends in a newline")


def _check_pointed_squares(game: Game, plies: Sequence[Transition]) -> None:
    """Pointed squares are on the board; with `moves_stones`, each action with more than one moves a stone between
    two."""
    show, squares = game.presentation, range(game.num_squares or 0)
    pointed = {action: show.pointed_squares(action) for action in range(game.num_distinct_actions)}
    on_board = all(square in squares for several in pointed.values() for square in several)
    expect(on_board, f"a square is not in {squares}")
    for state, action, following in plies if show.moves_stones else ():
        boards = zip(game.squares(state).tolist(), game.squares(following).tolist(), strict=True)
        for number, over, player, (before, after) in zip(
            action.tolist(), state.terminated.tolist(), state.current_player.tolist(), boards, strict=True
        ):
            own = 1 - 2 * player
            changes = sorted((before[square] == own, after[square] == own) for square in pointed[number])
            moves = over or len(changes) < 2 or changes == [(False, True), (True, False)]
            text = game.action_to_string(number)
            expect(moves, f"{text} does not take a stone from one of two squares to the other")


def _check_ends(game: Game, plies: Sequence[Transition]) -> None:
    """No position repeats, matches end within `max_game_length`, and stepping a finished match changes nothing."""
    final = plies[-1].following
    check_repetition(
        [words for state, _, _ in plies for words in single_positions(state, [row]) if not state.terminated[row]]
        for row in range(MATCHES)
    )
    check_length(game, bool(final.terminated.all()))
    steps = (game.step, game.step_unchecked)
    for action, step in product(range(game.num_distinct_actions), steps):
        after = step(final, torch.full((MATCHES,), action))
        expect(_same(after, final), f"{step.__name__} changes a match that is over")


def check_repetition(matches: Iterable[Sequence[tuple[WordInt, WordInt]]]) -> None:
    """No match is in the same position twice. `matches`: the positions of each match, ply after ply, but the last."""
    for positions in matches:
        met = dict[tuple[int, ...], int]()
        for ply, words in enumerate(positions):
            first = met.setdefault(tuple(map(int, words)), ply)
            expect(first == ply, f"the position after ply {first} is met again after ply {ply}: {REPEATED}")


def check_length(game: Game, have_ended: bool) -> None:
    expect(have_ended, f"a match is longer than max_game_length={game.max_game_length}")


def _check_both_ways(game: Game, plies: Sequence[Transition]) -> None:
    """Compiled rules, and rules that are called with single positions, give the same results."""
    for state, action, following in plies:
        for step in (game.step, game.step_unchecked):
            expect(_same(step(state, action), following), f"{step.__name__} differs from the compiled rules")
        bits = game.observation_bits(following)
        expect(bits.dtype == torch.uint8, "observation_bits are not uint8")
        seen = bits.to(torch.float32).reshape(-1, *game.observation_shape)
        expect(torch.equal(game.observe(following), seen), "observe differs from observation_bits")
        for row, words in enumerate(single_positions(state, range(SINGLE_MATCHES))):
            if not bool(state.terminated[row]):
                mask = game.legal_action_mask(state)[row].nonzero()[:, 0].tolist()
                expect(mask == legal_numbers(game, *words), "the mask differs from legal_actions")
                own, opp, over = played_singly(game, *words, int(action[row]))
                after = single_positions(following, [row])[0]
                same = (own, opp, over) == (*after, bool(following.terminated[row]))
                expect(same, "a single match differs from the batch")
                expect(
                    entries_singly(game, own, opp) == bits[row].tolist(),
                    "observation_entry differs from observation_bits",
                )


def _check_codec(game: Game, plies: Sequence[Transition]) -> None:
    """Observations can be packed, and unpacked into the words that they were made from."""
    for *_, following in plies:
        own, opp = following.own.numpy(), following.opp.numpy()
        packed = np.packbits(game.observation_bits(following).numpy(), axis=1)
        expect(np.array_equal(game.observation_codec.pack(own, opp), packed), "pack differs from observation_bits")
        _check_observed(game, following)


def _check_observed(game: Game, state: State) -> None:
    """The words of a position can be told from its observation."""
    used = {"own": state.own, "opp": state.opp}
    seen = game.observation_codec.unpack(game.observation_codec.pack(*(words.numpy() for words in used.values())))
    for (name, words), shown in zip(used.items(), map(torch.from_numpy, seen), strict=True):
        parts = parts_matrix(words ^ shown)
        for row in parts.any(dim=1).nonzero()[:1, 0].tolist():
            differing = int(single_word(words, row)) ^ int(single_word(shown, row))
            raise ConformanceError(HIDDEN.format(bit=(differing & -differing).bit_length() - 1, word=name))


def check_shown(game: Game, own: WordInt, opp: WordInt) -> None:
    """Each bit that is set in a position is shown by its observation: without it, the observation is another one."""

    shown = entries_singly(game, own, opp)
    for name, word in (("own", own), ("opp", opp)):
        for bit in (bit for bit in range(int(word).bit_length()) if (int(word) >> bit) & 1):
            without = word ^ word_of([bit], game.rules.word_bits)
            other = entries_singly(game, *((without, opp) if name == "own" else (own, without)))
            expect(other != shown, HIDDEN.format(bit=bit, word=name))


CHECKS: dict[str, Callable[[Game, Sequence[Transition]], None]] = {
    "legality": _check_legality,
    "perspective": _check_perspective,
    "symmetries": _check_symmetries,
    "texts": _check_texts,
    "pointed squares": _check_pointed_squares,
    "ends": _check_ends,
    "two ways": _check_both_ways,
    "observation codec": _check_codec,
}
