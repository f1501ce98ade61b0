"""Compare all levels of a run: the tables, the figures and the report."""

from dataclasses import asdict

from selfplay.figures.figure_files import COMPARISON_FIGURES, write_figures
from selfplay.figures.style import source_of
from selfplay.figures.tensorboard import write_comparison_events
from selfplay.files import read_text, sha256, written_whole
from selfplay.games import make_game
from selfplay.grading.comparison import comparison_report
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.command_lines import command_for
from selfplay.runs.manifest import Stage
from selfplay.runs.run_folder import RunFolder, writes_run
from selfplay.settings.fields import modules_in, recorded_defaults, stage_record
from selfplay.settings.recorded import made_with
from selfplay.settings.run import Settings
from selfplay.stages.measure_levels import compare_levels
from selfplay.stages.run_check import check_comparison


@writes_run(create=False)
def compare_and_report(settings: Settings, progress: ProgressBar = NoProgress) -> str:
    """Compare all levels of the run, write the tables and figures, and return the report and the commands for playing.

    Raises as compare_levels.
    """
    run = RunFolder.of(settings)
    check_comparison(settings, make_game(settings.game.name))
    with _stage(settings).making() as made:
        comparison = compare_levels(settings, progress)
        source = source_of(comparison.game.presentation.title, settings)
        figures = write_figures(COMPARISON_FIGURES, comparison, run.figures, source)
        write_comparison_events(settings, comparison.table)
        report = comparison_report(comparison, made_with(settings))
        with written_whole(run.report) as partial:
            partial.write_text(f"{report}\n", encoding="utf-8")
        made.counts = {"levels": len(comparison.table) - 1}
        tables = [run.comparison.with_name(name) for name, table in comparison.tables().items() if table is not None]
        made.files = [str(path.relative_to(run.path)) for path in (*tables, run.report, *figures)]
    return f"{report}\n\n{how_to_play(settings)}"


def is_compared(settings: Settings) -> bool:
    """Whether `compare_and_report` has already compared the present levels of the run with these settings.

    Raises InvalidFileError if the run's manifest is broken.
    """
    more = f" ({RunFolder.of(settings).comparison}); {_command(settings, 'compare')} compares them again"
    return _stage(settings).is_done("levels already compared", more)


def last_report(settings: Settings) -> str:
    """The report of the comparison that `is_compared` has found, and the commands for playing."""
    return f"{read_text(RunFolder.of(settings).report).rstrip()}\n\n{how_to_play(settings)}"


def _stage(settings: Settings) -> Stage:
    """The comparison of the present levels of the run: it depends on settings and the digests of the levels."""
    run = RunFolder.of(settings)
    agents = [sha256(run.agent(level)) for level in run.trained_levels()]
    record = stage_record(settings, "comparison") | {"agents_sha256": agents}
    return Stage("comparison", run.path, record, recorded_defaults(settings), force=True)


def how_to_play(settings: Settings) -> str:
    """The commands for playing against the newest level from the current folder."""
    return f"Play against it: {_command(settings, 'play')}   or in a browser: {_command(settings, 'web')}"


def _command(settings: Settings, program: str) -> str:
    # The files of the run name modules, but only the user may allow to import them.
    named = [settings.architecture, asdict(settings.learner), settings.from_level]
    modules = {*settings.modules, *modules_in(named)}
    return command_for(program, settings.game.name, settings.run_dir, modules=modules)
