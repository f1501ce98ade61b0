"""The rows of a dataset, made from played matches and their targets."""

import torch
from torch import Tensor

from selfplay.dataset.rows import Rows
from selfplay.dataset.targets import PlayedMatches, TargetRule, is_move
from selfplay.errors import SettingError


def match_rows(played: PlayedMatches, rule: TargetRule, viewpoints: str = "both") -> Rows:
    """The rows of a batch of matches: one for each move, ordered by match and ply.

    Args:
        rule: gives the targets.
        viewpoints: "both" keeps the moves of both players, "agent" only those of the first of the two.

    Raises SettingError if the targets of `rule` have another shape or are not in [-1, 1].
    """
    record = played.record
    actions, states = torch.stack(record.actions), record.states
    kept = is_move(played.game, actions)
    if viewpoints == "agent":
        kept &= torch.stack([state.current_player for state in states[:-1]]) == record.seats
    targets = rule(played)
    if targets.shape != kept.shape:
        raise SettingError(f"targets: the rule gives targets of shape {[*targets.shape]}; {[*kept.shape]} are needed")
    by_match = record.match.argsort(stable=True)
    place, ply = kept[:, by_match].T.nonzero(as_tuple=True)
    chosen = ply * len(by_match) + by_match[place]
    own, opp = (torch.stack(words).flatten()[chosen] for words in list(zip(*states[1:], strict=True))[:2])
    target = targets.flatten()[chosen]
    _check_range(target)
    columns = record.match[by_match][place], ply.to(torch.int32), own, opp, target.to(torch.float32)
    return Rows(*(column.numpy() for column in columns))


def _check_range(targets: Tensor) -> None:
    valid = targets.abs() <= 1
    if not bool(valid.all()):
        value = float(targets[~valid][0])
        raise SettingError(f"targets: the rule gives a target of {value:g}; targets must be from -1 to 1")
