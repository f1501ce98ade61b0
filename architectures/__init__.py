"""The networks, one per file, by name: torch modules from observations to `Output`.

Each maps float32[N, *observation_shape] to an `Output`: a value, and policy logits if it has a policy head. To add one,
write it in a new file and add a line to ARCHITECTURES; or keep it in another package and name it `module:Class`, or
offer it as an entry point in the group "selfplay.architectures".
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from selfplay.checks import fields_of, require
from selfplay.error_places import is_outside
from selfplay.errors import SelfPlayError, SettingError, shortened, text_of
from selfplay.games.game import Game
from selfplay.games.pattern_planes import further_board
from selfplay.games.touched_squares import actions_are_squares
from selfplay.outside_errors import errors_about, errors_of_outside
from selfplay.registry import Registry

__all__ = ["ARCHITECTURES", "Output", "build_network", "check_output", "description_of", "meta_tensors"]

ARCHITECTURES: Registry[Callable[..., nn.Module]] = Registry(
    "architecture",
    {
        "mlp": "selfplay.architectures.mlp:MLP",
        "conv": "selfplay.architectures.conv:Conv",
        "residual": "selfplay.architectures.residual:Residual",
        "othello_features": "selfplay.architectures.othello_features:OthelloFeatures",
        "ntuple": "selfplay.architectures.ntuple:NTuple",
        "alphazero_mlp": "selfplay.architectures.alphazero_mlp:AlphaZeroMLP",
        "alphazero_convolutional": "selfplay.architectures.alphazero_convolutional:AlphaZeroConvolutional",
        "alphazero_residual": "selfplay.architectures.alphazero_residual:AlphaZeroResidual",
    },
    group="selfplay.architectures",
)

OF_GAMES = ("num_actions", "touched", "further")
"""Parameters of networks that are not options, but found of the game (see `build_network`)."""

PROBE_ROWS = 3
"""Number of observations in the check of a network. Not 1, so that the shape shows whether each has a value."""


class Output(NamedTuple):
    """The output of a network for N observations, each seen by the player who is not to move: the one who has just
    moved, unless it moves again."""

    value: Tensor
    """float32[N]: the expected outcome for this player."""
    policy_logits: Tensor | None = None
    """float32[N, A]: how promising each action of the player to move is; None if the network has no policy head."""


def check_output(
    network: nn.Module, observation_shape: Sequence[int], num_actions: int, name: str, *, with_gradient: bool = False
) -> Output:
    """Call `network` with a few observations of zeros, in evaluation mode, and check its output.

    Args:
        name: what error messages call the network, such as "architecture=mlp".
        with_gradient: as for `probe`.

    Returns:
        Its output, with N = PROBE_ROWS.

    Raises:
        SettingError: the network fails, or does not return an `Output` with float32 tensors of the right shapes and
            finite numbers.
    """
    problem, module = f"{name} fails on observations of shape {list(observation_shape)}", type(network).__module__
    try:
        with errors_about(problem, module) if is_outside(module) else nullcontext():
            output: object = probe(network, observation_shape, with_gradient=with_gradient)
    except SelfPlayError:
        raise
    except (RuntimeError, TypeError, ValueError) as error:
        raise SettingError(f"{problem}: {' '.join(str(error).split())}") from error
    if not isinstance(output, Output):
        found = f"a tensor of shape {list(output.shape)}" if isinstance(output, Tensor) else type(output).__name__
        raise SettingError(
            f"{name} returns {found} for {PROBE_ROWS} observations; expected Output with a value of shape "
            f"[{PROBE_ROWS}], and policy_logits None or of shape [{PROBE_ROWS}, {num_actions}]"
        )
    _check_tensor(f"{name} returns a value", output.value, [PROBE_ROWS])
    if output.policy_logits is not None:
        _check_tensor(f"{name} returns policy_logits", output.policy_logits, [PROBE_ROWS, num_actions])
    return output


def probe(network: nn.Module, observation_shape: Sequence[int], *, with_gradient: bool = False) -> Output:
    """The output for PROBE_ROWS observations of zeros in evaluation mode. Does not change the mode of the network.

    `with_gradient`: whether the output can be differentiated, as in training.
    """
    modes = [(module, module.training) for module in network.modules()]
    device = next((parameter.device for parameter in network.parameters()), None)
    try:
        with torch.set_grad_enabled(with_gradient):
            return cast(Output, network.eval()(torch.zeros(PROBE_ROWS, *observation_shape, device=device)))
    finally:
        for module, mode in modes:
            module.training = mode


def _check_tensor(what: str, tensor: object, shape: list[int]) -> None:
    if not isinstance(tensor, Tensor):
        raise SettingError(f"{what} of type {type(tensor).__name__}; expected a float32 tensor of shape {shape}")
    if list(tensor.shape) != shape:
        raise SettingError(f"{what} of shape {list(tensor.shape)} for {PROBE_ROWS} observations; expected {shape}")
    if tensor.dtype != torch.float32:
        raise SettingError(f"{what} of {tensor.dtype}; expected torch.float32")
    if not tensor.isfinite().all():
        wrong = tensor[~tensor.isfinite()][0].item()
        raise SettingError(f"{what} of {wrong:g} for observations of zeros; expected finite numbers")


def require_board(name: str, observation_shape: Sequence[int], instead: str) -> None:
    """Raise SettingError unless observations of this shape are boards: (planes, rows, columns).

    `instead`: an architecture for observations of any shape.
    """
    if len(observation_shape) != 3:
        shape = tuple(observation_shape)
        raise SettingError(
            f"architecture={name} needs a board; this game's observation is {shape}; set architecture={instead}"
        )


MOST_LAYERS = 1000
"""The largest number of layers or blocks; more would take hours to build, and never learn."""


def require_positive_integers(*, blocks: int = 1, **numbers: int) -> None:
    """Raise SettingError unless the values of these options are integers of at least 1, and `blocks` not too large."""
    options = [(option, number, None) for option, number in numbers.items()]
    for option, number, most in [*options, ("blocks", blocks, MOST_LAYERS)]:
        is_positive = isinstance(number, int) and not isinstance(number, bool) and number >= 1
        bounds = "of at least 1" if most is None else f"from 1 to {most:,}"
        require(option, number, is_positive and (most is None or number <= most), f"an integer {bounds}")


# ---------------------------------------------------------------------- networks by name

NETWORK = "a neural network"
"""The description of an architecture whose class has no `description`."""


def description_of(name: str) -> str:
    """A short description of the architecture with this name. Raises SettingError for an unknown name."""
    return str(getattr(ARCHITECTURES[name], "description", NETWORK))


def fits_other_boards(name: str) -> bool:
    """Whether networks of the architecture with this name have the same weights on boards of every size.

    Raises SettingError for an unknown name.
    """
    return bool(getattr(ARCHITECTURES[name], "fits_other_boards", False))


def build_network(
    architecture: Mapping[str, Any],
    observation_shape: Sequence[int],
    num_actions: int,
    game: Game | None = None,
) -> nn.Module:
    """The network that `architecture` describes: its `name` and its options.

    The network's class is called with the observation shape and its options; if it has a parameter `num_actions`, that
    is passed too; if it has a parameter `touched`, the squares that each action touches, unless they are simply the
    squares of the board; and if it has a parameter `further`, the board besides those of the stones (`further_board`).
    The initial weights come from torch's global generator.

    Args:
        num_actions: the number of distinct actions of the game, for policy heads.
        game: None: a network whose actions are not squares of the board cannot be built.

    Raises:
        SettingError: an unknown name, option or value; or a network that does not return `Output`, has no weights, or
            whose value has no gradient.
    """
    network = _constructed(architecture, observation_shape, num_actions, game)
    name = f"architecture={architecture['name']}"
    # Weights that the caller makes in inference mode have no gradients.
    can_learn = any(parameter.requires_grad for parameter in network.parameters())
    needs_gradient = is_outside(type(network).__module__) and can_learn and not torch.is_inference_mode_enabled()
    output = check_output(network, observation_shape, num_actions, name, with_gradient=needs_gradient)
    if not any(parameter.numel() for parameter in network.parameters()):
        raise SettingError(f"{name} has no weights to learn (torch.nn.Parameter)")
    if needs_gradient and not output.value.requires_grad:
        raise SettingError(
            f"{name} returns a value without a gradient: it must depend on weights (torch.nn.Parameter), without "
            "detach() and no_grad()"
        )
    return network


def meta_tensors(
    architecture: Mapping[str, Any],
    observation_shape: Sequence[int],
    num_actions: int,
    game: Game | None = None,
) -> dict[str, Tensor]:
    """The state of the network that `architecture` describes, as tensors that have shapes but no memory.

    A network whose class cannot be built on torch's meta device is built in memory.

    Raises:
        SettingError: as `build_network`; or the network has a tensor that is too large.
    """
    try:
        try:
            with torch.device("meta"):
                network = _constructed(architecture, observation_shape, num_actions, game)
        except (RuntimeError, SettingError) as error:
            # Raised by a class that computes with its initial weights.
            if "meta" not in text_of(error.__cause__ or error):
                raise
            network = _constructed(architecture, observation_shape, num_actions, game)
    # torch raises RuntimeError and OverflowError for sizes that exceed 64 bits.
    except (RuntimeError, OverflowError, MemoryError) as error:
        reason = " ".join(str(error).split())[:200]
        raise SettingError(f"architecture={shortened(architecture.get('name'))} cannot be built: {reason}") from error
    state: dict[str, Tensor] = network.state_dict()
    return state


def _constructed(
    architecture: Mapping[str, Any],
    observation_shape: Sequence[int],
    num_actions: int,
    game: Game | None,
) -> nn.Module:
    options = dict(architecture)
    name = options.pop("name", None)
    if not isinstance(name, str):
        choices = ", ".join(sorted(ARCHITECTURES))
        unknown = shortened(repr(name))
        raise SettingError(
            f"unknown architecture {unknown}; set architecture.name=module:Class, or choose from {choices}"
        )
    build = _network_class(name)
    parameters = inspect.signature(build).parameters
    if all(parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD) for parameter in parameters.values()):
        raise SettingError(
            f"architecture {shortened(name)!r} does not take the shape of the observations; write "
            "def __init__(self, input_shape), with its options as further arguments"
        )
    known = list(parameters)[1:]
    sizes: dict[str, Any] = {"num_actions": num_actions} if "num_actions" in known else {}
    with torch.device("cpu"):  # the rules are compiled for its memory
        if "touched" in known:
            sizes["touched"] = None if game is None or actions_are_squares(game) else game.touched_squares
        if "further" in known:
            sizes["further"] = None if game is None or options.get("marks") is not None else further_board(game)
    allowed = [option for option in known if option not in sizes]
    if foreign := sorted(set(options) - set(allowed)):
        known_ones = ", ".join(allowed) or "none"
        raise SettingError(f"architecture {name} has no option {shortened(repr(foreign[0]))}; it has {known_ones}")
    for option, value in options.items():
        usual, is_list = parameters[option].default, isinstance(value, Sequence) and not isinstance(value, str)
        require(f"architecture.{option}", value, not isinstance(usual, tuple) or is_list, "a list, such as [64]")
        require(
            f"architecture.{option}", value, not isinstance(usual, bool) or isinstance(value, bool), "true or false"
        )
    is_own = not is_outside(build.__module__)
    failed = nullcontext() if is_own else errors_of_outside("architecture", name, build.__module__, " cannot be built")
    try:
        with fields_of("architecture", *allowed), failed:
            network = build(tuple(observation_shape), **sizes, **options)
    except TypeError as error:
        # After the first line torch may describe its own stack.
        reason = shortened(str(error).partition("\n")[0])
        raise SettingError(
            f"architecture={shortened(dict(architecture))} has a value of the wrong type: {reason}"
        ) from error
    # torch.nn.Module sets the attribute.
    if not hasattr(network, "training"):
        raise SettingError(
            f"architecture {shortened(name)!r} cannot be built: write super().__init__() in its __init__"
        )
    return network


def _network_class(name: str) -> Callable[..., nn.Module]:
    found = ARCHITECTURES[name]
    # The name may come from a file, which must not be able to call any function by its name.
    if not (isinstance(found, type) and issubclass(found, nn.Module)):
        raise SettingError(f"architecture {shortened(name)!r} is not a torch.nn.Module class")
    return found


def option_defaults(name: str) -> dict[str, Any]:
    """The default of each option of an architecture that has one, as settings have it. Raises SettingError for an
    unknown name."""
    parameters = inspect.signature(_network_class(name)).parameters.values()
    options = (option for option in parameters if option.name not in OF_GAMES)
    defaults = {option.name: option.default for option in options if option.default is not option.empty}
    return {name: list(default) if isinstance(default, tuple) else default for name, default in defaults.items()}
