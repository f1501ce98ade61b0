"""The check of the symmetries that a game declares."""

from collections.abc import Iterable, Sequence
from math import prod

import numpy as np
import torch
from torch import Tensor

from selfplay.errors import shortened
from selfplay.games.board_images import fault_of, transform_of
from selfplay.games.conformance_matches import MATCHES, Transition
from selfplay.games.game import Game
from selfplay.games.random_positions import random_positions
from selfplay.games.rules import Symmetries
from selfplay.games.single_positions import expect


def check_symmetries(game: Game, plies: Sequence[Transition]) -> None:
    """Declared symmetries are permutations, the identity first, and the rules commute with them.

    Raises ConformanceError for the first violation.
    """
    if not game.declares_symmetries:
        return
    declared = game.symmetries
    needed = "Symmetries(actions, observations), from selfplay import Symmetries"
    expect(isinstance(declared, Symmetries), f"symmetries is {shortened(repr(declared))}, where it must be {needed}")
    actions, observations = declared
    for name, maps, size in (
        ("actions", actions, game.num_distinct_actions),
        ("observations", observations, prod(game.observation_shape)),
    ):
        is_array = isinstance(maps, np.ndarray) and maps.dtype.kind == "i" and maps.shape == (len(actions), size)
        expect(is_array, f"{name} are {shortened(repr(maps))}, where they must be an array int64[S, {size}]")
        expect(bool((np.sort(maps, axis=1) == np.arange(size)).all()), f"{name} are not all permutations")
        expect(bool((maps[0] == np.arange(size)).all()), f"{name}[0] is not the identity")
    entries = game.observation_codec.entries
    for number, entry in np.argwhere(entries.limits[observations] != entries.limits)[:1].tolist():
        source = observations[number, entry]
        expect(
            False,
            f"symmetry {number} moves entry {source} of the observation, from 0 to {entries.limits[source]}, to entry "
            f"{entry}, from 0 to {entries.limits[entry]}",
        )
    if plies and game.observation_codec.shows_all:
        positions = random_positions(game, game.max_game_length)
        for number, symmetry in enumerate(zip(actions, observations, strict=True)):
            fault = fault_of(game, positions, transform_of(game, symmetry[1]), Symmetries(*symmetry))
            expect(fault is None, f"symmetry {number} {fault.reason if fault else ''}")
    elif plies:
        # It is not known which positions are images of each other.
        _check_images_of_matches(game, plies)


def _check_images_of_matches(game: Game, plies: Sequence[Transition]) -> None:
    """Symmetries map matches from the start to matches with the same result."""
    actions, observations = game.symmetries
    masks = [game.legal_action_mask(state) for state, *_ in plies]
    seen = [game.observation_bits(following) for *_, following in plies]
    images = game.observation_codec.entries.bits_of_images(observations)
    for number, (action_map, observation_map) in enumerate(zip(actions, images, strict=True)):
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
