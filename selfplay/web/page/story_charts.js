// The charts of a story that are curves or bars by level or epoch, of one run or of several side by side.

import { lineChart, shareChart } from "./charts.js";
import { curveName, headOf, rowsOf, shade, toneOf } from "./story_runs.js";

// Levels that are named in the legend, if no more are shown.
const MOST_NAMED = 6;
const GROUP_TONES = ["var(--chart-a)", "var(--chart-b)", "var(--chart-won)", "var(--chart-lost)", "var(--quiet)", "var(--chart-new)"];

/** @type {(epochs: EpochView[]) => EpochView} */
const champion = (epochs) => epochs.reduce((best, one) => (one.judged < best.judged ? one : best));
// What the levels of these runs are judged by, one of the levels of each kind: each has charts of its own.
/** @type {(every: Run[]) => LevelLosses[]} */
const kindsOf = (every) => [...new Map(every.flatMap((run) => run.story.losses).reverse().map((one) => [one.judged_by, one])).values()].reverse();
/** @type {(run: Run, kind: LevelLosses) => LevelLosses[]} */
const lossesOf = (run, kind) => run.story.losses.filter((one) => one.judged_by === kind.judged_by);
/** @type {(name: string, kind: LevelLosses, kinds: LevelLosses[]) => string} */
const idOf = (name, kind, kinds) => (kind === kinds[0] ? name : `${name}-${kind.judged_by}`);
// The rows of the comparison that have this column.
/** @type {<What extends keyof LevelRow>(what: What) => (run: Run) => (LevelRow & {[column in What]: NonNullable<LevelRow[column]>})[]} */
const compared = (what) => (run) => /** @type {any} */ ((run.story.comparison ?? []).filter((row) => row[what] !== null));
/** @type {(share: number) => string} */
const percent = (share) => `${(100 * share).toFixed(1)} %`;

// A chart of curves by level for each run that has rows, [] if none has. rows(run): rows with a level.
/** @type {<Row extends {level: number}>(every: Run[], chart: LevelChart<Row>) => any[]} */
function levelChart(every, { rows, curves, lines = [], head, cells, ...chart }) {
  const runs = every.filter((run) => rows(run).length > 0);
  if (runs.length === 0) {
    return [];
  }
  const levels = runs.flatMap((run) => rows(run).map(({ level }) => level));
  const ofRun = (/** @type {Run} */ run) => curves.map(({ name, tone = toneOf, y, text, dots }) => ({
    name: curves.length > 1 || run.isAlone ? curveName(run, name) : run.name,
    tone: tone(run),
    dash: run.dash,
    dots,
    points: rows(run).flatMap((row) => {
      const height = y(row);
      return height === null ? [] : [{ x: row.level, y: height, text: `level ${row.level}: ${text(row)}` }];
    }),
  }));
  const across = lines.map(({ y, text, ...line }) => ({
    ...line,
    dots: false,
    points: [Math.min(...levels) - 0.5, Math.max(...levels) + 0.5].map((x) => ({ x, y, text })),
  }));
  return [lineChart({
    xLabel: "level",
    ...chart,
    series: [...runs.flatMap(ofRun), ...across],
    table: { caption: chart.title, head: headOf(runs, head), rows: rowsOf(runs, cells) },
  })];
}

// isShown: whether the curve of a level is drawn.
/** @type {(every: Run[], isShown: (level: number) => boolean) => any[]} */
export function lossCurves(every, isShown) {
  return kindsOf(every).map((kind, _, kinds) => curvesOfKind(every, isShown, kind, idOf("losses", kind, kinds)));
}

/** @type {(every: Run[], isShown: (level: number) => boolean, kind: LevelLosses, id: string) => any} */
function curvesOfKind(every, isShown, kind, id) {
  const runs = every.filter((run) => lossesOf(run, kind).length > 0);
  const shown = (/** @type {Run} */ run) => lossesOf(run, kind).filter(({ level }) => isShown(level));
  const all = runs.reduce((sum, run) => sum + lossesOf(run, kind).length, 0);
  const count = runs.reduce((sum, run) => sum + shown(run).length, 0);
  const epochs = Math.max(...runs.flatMap((run) => lossesOf(run, kind).map((one) => one.epochs.length)));
  const curves = count === all ? `A ${epochs > 1 ? "curve" : "point"} for each of ${all} levels` : `${count} of ${all} levels`;
  const kept = epochs > 1 ? "; a dot marks the epoch whose weights were kept" : "";
  return lineChart({
    id,
    isWide: true,
    title: `${kind.title} by epoch`,
    about: `${curves}, the newest strongest in colour${kept}.`,
    isRatio: true,
    xLabel: "epoch",
    yLabel: kind.unit,
    series: runs.flatMap((run) => shown(run).map(({ level, epochs: losses }, number, { length }) => ({
      name: curveName(run, `level ${level}`),
      tone: shade(run, number, length),
      dash: run.dash,
      dots: false,
      isQuiet: count > MOST_NAMED && number > 0 && number < length - 1,
      points: losses.map((one) => ({
        x: one.epoch,
        y: one.judged,
        isMarked: one === champion(losses),
        text: `epoch ${one.epoch}: ${one.judged.toFixed(4)}`,
      })),
    }))),
    table: {
      caption: `${kind.title} by level and epoch`,
      head: headOf(runs, ["level", ...Array.from({ length: epochs }, (_, number) => `epoch ${number + 1}`)]),
      rows: rowsOf(runs, (run) => shown(run).map(({ level, epochs: losses }) => [level, ...losses.map((one) => one.judged.toFixed(4))])),
    },
  });
}

/** @type {(every: Run[]) => any[]} */
export function lossByLevel(every) {
  return kindsOf(every).flatMap((kind, _, kinds) => {
    const rows = (/** @type {Run} */ run) => lossesOf(run, kind).map(({ level, epochs }) => ({ level, ...champion(epochs) }));
    const isFitted = kind.epochs.every(({ training }) => training !== null);
    return levelChart(every, {
      id: idOf("loss-by-level", kind, kinds),
      title: `${kind.title} by level`,
      about: isFitted
        ? `The lowest ${kind.title.toLowerCase()} of each level. The table also has the training loss of the same epoch. If equal positions are merged for training, it is far lower, because it does not include the spread of their targets.`
        : "The epoch of each level whose weights were kept.",
      isRatio: true,
      yLabel: kind.unit,
      marks: every[0].story.changes.map(({ level, text }) => ({ x: level - 0.5, text: curveName(every[0], `from level ${level}: ${text}`) })),
      rows,
      curves: [{ name: kind.title.toLowerCase().split(" ")[0], y: ({ judged }) => judged, text: ({ judged }) => judged.toFixed(4) }],
      head: ["level", "epoch kept", isFitted ? "validation" : kind.unit, ...(isFitted ? ["training"] : [])],
      cells: (run) => rows(run).map((row) => [row.level, row.epoch, row.judged.toFixed(4), ...(row.training === null ? [] : [row.training.toFixed(4)])]),
    });
  });
}

/** @type {(every: Run[]) => any[]} */
export function winsMinusLosses(every) {
  const rows = compared("previous");
  /** @type {(name: string, opponent: "previous" | "random", tone?: (run: Run) => string) => Curve<LevelRow>} */
  const curve = (name, opponent, tone) => ({
    name: `against the ${name}`,
    tone,
    y: ({ [opponent]: results }) => (results === null ? null : results.wins - results.losses),
    text: ({ [opponent]: results }) => `${results?.wins} won, ${results?.draws} drawn, ${results?.losses} lost`,
  });
  const second = (/** @type {Run} */ run) => (run.isAlone ? "var(--chart-b)" : `color-mix(in oklab, ${run.tone} 60%, var(--ink))`);
  /** @type {(results: ResultsView | null) => string} */
  const counted = (results) => (results === null ? "" : `${results.wins}-${results.draws}-${results.losses}`);
  return levelChart(every, {
    id: "wins",
    title: "Wins minus losses",
    about: "Each level's matches against the level before it, and against the random player.",
    yLabel: "wins − losses",
    rows,
    curves: [curve("level before", "previous"), curve("random player", "random", second)],
    head: ["level", "against the level before", "against the random player"],
    cells: (run) => rows(run).map((row) => [row.level, counted(row.previous), counted(row.random)]),
  });
}

// Bars of all results for one run; for several runs, a curve of the wins of each.
/** @type {(every: Run[]) => any[]} */
export function exactResults(every) {
  const rows = compared("exact");
  const chart = {
    id: "exact",
    title: "Against the random player, exactly",
    xLabel: "level",
    yLabel: "probability",
  };
  if (every.length === 1 && rows(every[0]).length > 0) {
    return [shareChart({
      ...chart,
      about: "The probability of each result over both seats. This is exhaustive, not a sample.",
      parts: ["won", "drawn", "lost"].map((name) => ({ name, tone: `var(--chart-${name})` })),
      bars: rows(every[0]).map(({ level, exact }) => ({ x: level, values: [exact.win, exact.draw, exact.loss] })),
    })];
  }
  return levelChart(every, {
    ...chart,
    about: "The probability of a win over both seats. This is exhaustive, not a sample.",
    isExact: true,
    rows,
    curves: [{ name: "won", y: ({ exact }) => exact.win, text: ({ exact }) => exact.win.toFixed(4) }],
    head: ["level", "won", "drawn", "lost"],
    cells: (run) => rows(run).map(({ level, exact }) => [level, ...[exact.win, exact.draw, exact.loss].map((share) => share.toFixed(4))]),
  });
}

// How often each level gives a win or a draw away, judged by an exact solver: by group of positions for one run, in all
// positions for several runs.
/** @type {(every: Run[]) => any[]} */
export function mistakesChart(every) {
  /** @type {(run: Run) => (MistakeRow & {level: number})[]} */
  const rows = (run) => (run.story.mistakes ?? []).flatMap(({ level, ...row }) => (level === null ? [] : [{ level, ...row }]));
  const groups = every.length > 1 ? ["all"] : [...new Set(rows(every[0]).map((row) => row.group))];
  /** @type {(group: string, number: number) => string} */
  const tones = (group, number) => (group === "all" ? "var(--ink)" : GROUP_TONES[number % GROUP_TONES.length]);
  return levelChart(every, {
    id: "mistakes",
    title: "Mistakes, judged by the exact solver",
    about: `The share of positions in which a level gives a win or a draw away${every.length > 1 ? "." : "; “all” has all groups together."}`,
    yLabel: "mistakes, in %",
    rows,
    curves: groups.map((group, number) => ({
      name: group,
      tone: (run) => (run.isAlone ? tones(group, number) : run.tone),
      dots: group === "all",
      y: (/** @type {MistakeRow} */ row) => (row.group === group ? 100 * row.mistake_rate : null),
      text: (/** @type {MistakeRow} */ row) => percent(row.mistake_rate),
    })),
    head: ["player", "mistakes", "best action", "points lost"],
    cells: newestMistakes,
  });
}

// The mistakes of the newest level and the reference players in all positions, the best player first.
/** @type {(run: Run) => Cells[]} */
function newestMistakes({ story }) {
  const mistakes = story.mistakes ?? [];
  const latest = Math.max(...mistakes.map((row) => row.level ?? 0));
  return mistakes
    .filter((row) => row.group === "all" && (row.level === null || row.level === latest))
    .sort((one, other) => one.mistake_rate - other.mistake_rate)
    .map((row) => [row.player, percent(row.mistake_rate), percent(row.perfect_rate), row.points_lost.toFixed(2)]);
}

// The share of late positions in which a best action is taken, by level, with the best reference player as a line.
/** @type {(every: Run[]) => any[]} */
export function solvedChart(every) {
  const rows = compared("solved");
  const others = (every[0].story.references ?? []).flatMap(({ player, solved }) => (solved === null ? [] : [{ player, solved }]));
  const best = others.toSorted((one, other) => other.solved.optimal - one.solved.optimal).slice(0, 1);
  /** @type {(name: string, solved: SolvedView) => Cells} */
  const cells = (name, { optimal, points_lost: lost }) => [name, percent(optimal), lost === null ? "" : lost.toFixed(2)];
  return levelChart(every, {
    id: "solved",
    title: "Best actions in solved positions",
    about: "The share of positions with known exact values in which a best action is taken.",
    yLabel: "best action, in %",
    rows,
    curves: [{ name: "levels", y: ({ solved }) => 100 * solved.optimal, text: ({ solved }) => percent(solved.optimal) }],
    lines: best.map(({ player, solved }) => ({
      name: player,
      tone: every[0].isAlone ? "var(--chart-b)" : "var(--quiet)",
      y: 100 * solved.optimal,
      text: percent(solved.optimal),
    })),
    head: ["player", "best action", "points lost"],
    cells: (run) => [
      ...rows(run).map((row) => cells(`level ${row.level}`, row.solved)),
      ...(run === every[0] ? others : []).map((one) => cells(one.player, one.solved)),
    ],
  });
}

/** @type {(every: Run[]) => any[]} */
export function ratings(every) {
  const rows = compared("rating");
  const met = (every[0].story.references ?? []).filter((one) => one.player !== "random");
  const source = met.length > 0 ? "; the horizontal lines are the players that the levels were compared with" : " counted above";
  return levelChart(every, {
    id: "ratings",
    title: "Rating",
    about: `In Elo points above the random player, from all matches${source}.`,
    yLabel: "Elo points",
    rows,
    curves: [{ name: "rating", y: ({ rating }) => rating, text: ({ rating }) => String(Math.round(rating)) }],
    lines: met.map(({ player, rating }, number) => ({
      name: player,
      tone: shade({ isAlone: true, tone: "" }, number, met.length),
      y: rating,
      text: String(Math.round(rating)),
    })),
    head: [met.length > 0 ? "level or player" : "level", "rating"],
    cells: (run) => [
      ...rows(run).map((row) => [row.level, Math.round(row.rating)]),
      ...(run === every[0] ? met : []).map(({ player, rating }) => [player, Math.round(rating)]),
    ],
  });
}
