"""The settings of one run, composed by Hydra without its own command line."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from selfplay.errors import SettingError, shortened
from selfplay.settings.config_errors import one_line
from selfplay.settings.folders import CONFIG_FOLDER

# Hydra is imported where it is used: it takes 0.1 s, in which Ctrl-C should already be handled.
if TYPE_CHECKING:
    from omegaconf import DictConfig


def composed(config_name: str, overrides: Sequence[str]) -> "DictConfig":
    """Those that conf/`config_name`.yaml and the overrides give. Hydra also keeps its own settings in HydraConfig.

    hydra.main would compose them twice, first to find out whether the command is a sweep, which takes 0.1 s.
    """
    from hydra import initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra
    from hydra.core.hydra_config import HydraConfig
    from hydra.types import RunMode
    from omegaconf import open_dict

    with initialize_config_dir(str(CONFIG_FOLDER), version_base="1.3"):
        hydra = GlobalHydra.instance().hydra
        assert hydra is not None
        try:
            config = hydra.compose_config(config_name, list(overrides), RunMode.RUN)
        except (ValueError, TypeError) as error:
            raise rejected(overrides, error) from error
    HydraConfig.instance().set_config(config)
    with open_dict(config):
        del config["hydra"]
    return config


def rejected(arguments: Sequence[str], error: ValueError | TypeError) -> SettingError:
    """The error for arguments such as game=1 or game=[1], which Hydra rejects by these errors."""
    return SettingError(f"{' '.join(map(shortened, arguments))}: {one_line(error)}")
