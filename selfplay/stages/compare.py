"""Compare all levels of a run: the tables, the figures and the report."""

from dataclasses import asdict

from selfplay.figures.figure_files import COMPARISON_FIGURES, write_figures
from selfplay.figures.style import source_of
from selfplay.figures.tensorboard import write_comparison_events
from selfplay.files import read_text, sha256, written_whole
from selfplay.grading.comparison import comparison_report
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.command_lines import command_for
from selfplay.runs.manifest import Stage
from selfplay.settings.common import modules_in, recorded_defaults, stage_record
from selfplay.settings.recorded import made_with
from selfplay.settings.run import Settings
from selfplay.stages.learning_run import LearningRun
from selfplay.stages.measure_levels import measure_levels


def compare_and_report(run: LearningRun, progress: ProgressBar = NoProgress) -> str:
    """Compare all levels of the run, write the tables and figures, and return the report and the commands for playing.

    Raises as `measure_levels`.
    """
    folder, settings = run.folder, run.settings
    with _stage(run).making() as made:
        comparison = measure_levels(run, progress)
        source = source_of(comparison.game.presentation.title, settings)
        figures = write_figures(COMPARISON_FIGURES, comparison, folder.figures, source)
        write_comparison_events(run.folder, settings, comparison.table)
        report = comparison_report(comparison, made_with(settings))
        with written_whole(folder.report) as partial:
            partial.write_text(f"{report}\n", encoding="utf-8")
        made.counts = {"levels": len(comparison.table) - 1}
        tables = [folder.comparison.with_name(name) for name, table in comparison.tables().items() if table is not None]
        made.files = [str(path.relative_to(folder.path)) for path in (*tables, folder.report, *figures)]
    return f"{report}\n\n{commands_to_play(settings)}"


def is_compared(run: LearningRun) -> bool:
    """Whether `compare_and_report` has already compared the present levels of the run with these settings.

    Raises InvalidFileError if the run's manifest is broken.
    """
    more = f" ({run.folder.comparison}); {_command(run.settings, 'compare')} compares them again"
    return _stage(run).is_done("levels already compared", more)


def last_report(run: LearningRun) -> str:
    """The report of the comparison that `is_compared` has found, and the commands for playing."""
    return f"{read_text(run.folder.report).rstrip()}\n\n{commands_to_play(run.settings)}"


def _stage(run: LearningRun) -> Stage:
    """The comparison of the present levels of the run: it depends on settings and the digests of the levels."""
    agents = [sha256(run.folder.agent(level)) for level in run.folder.trained_levels()]
    record = stage_record(run.settings, "comparison") | {"agents_sha256": agents}
    return Stage("comparison", run.folder.path, record, recorded_defaults(run.settings), force=True)


def commands_to_play(settings: Settings) -> str:
    """The commands for playing against the newest level from the current folder."""
    return f"Play against it: {_command(settings, 'play')}   or in a browser: {_command(settings, 'web')}"


def _command(settings: Settings, program: str) -> str:
    # The files of the run name modules, but only the user may allow to import them.
    named = [settings.architecture, asdict(settings.learner), settings.from_level]
    modules = {*settings.modules, *modules_in(named)}
    return command_for(program, settings.game.name, settings.run_dir, modules=modules)
