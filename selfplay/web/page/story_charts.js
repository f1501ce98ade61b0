// The charts of a story that are curves or bars by level or epoch, of one run or of several side by side.

import { lineChart, shareChart, shareText } from "./charts.js";
import { curveName, exactShares, headOf, rowsOf, shade, toneOf } from "./story_runs.js";

// Levels that are named in the legend, if no more are shown.
const MOST_NAMED = 6;
const BILLION = 1e9;
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
/** @type {(column: keyof LevelRow) => (run: Run) => any[]} */
const compared = (column) => (run) => run.story.comparison.filter((row) => row[column] !== null);
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

// The score of each level against tree search with random matches, by the work of the matches from which it has learned.
/** @type {(every: Run[]) => any[]} */
export function versusRollouts(every) {
  /** @type {(run: Run) => any[]} */
  const rows = (run) => run.story.rated.filter((row) => row.work !== null && row.score_low !== null && row.score_high !== null);
  const runs = every.filter((run) => rows(run).length > 0);
  if (runs.length === 0) {
    return [];
  }
  const work = (/** @type {any} */ row) => row.work / BILLION;
  const interval = (/** @type {any} */ row) => `${percent(row.score_low)} to ${percent(row.score_high)}`;
  const most = Math.max(1, ...runs.flatMap((run) => rows(run).map(work)));
  const text = "half of the points";
  return [lineChart({
    id: "versus-rollouts",
    title: "Against random matches",
    about: "The points of each level in tree search against tree search with random matches, with as much work for each move; the bars are 95 % intervals. Above the line a level is better than what needs no learning.",
    xLabel: "work of the matches so far, in billion multiplications",
    yLabel: "points, in %",
    fixed: { low: 0, high: 100 },
    series: [
      ...runs.map((run) => ({
        name: curveName(run, "levels"),
        tone: toneOf(run),
        dash: run.dash,
        points: rows(run).map((row) => ({
          x: work(row),
          y: 100 * row.score,
          interval: [100 * row.score_low, 100 * row.score_high],
          text: `level ${row.level}: ${percent(row.score)} (${interval(row)})`,
        })),
      })),
      { name: text, tone: "var(--quiet)", dots: false, points: [0, most].map((x) => ({ x, y: 50, text })) },
    ],
    table: {
      caption: "Matches of each level against tree search with random matches",
      head: headOf(runs, ["level", "points", "95 %", "billion multiplications"]),
      rows: rowsOf(runs, (run) => rows(run).map((row) => [row.level, percent(row.score), interval(row), Math.round(work(row))])),
    },
  })];
}

/** @type {(every: Run[]) => any[]} */
export function winsMinusLosses(every) {
  const rows = compared("wins_vs_previous");
  /** @type {(row: any, opponent: string) => number[]} */
  const counts = (row, opponent) => ["wins", "draws", "losses"].map((result) => row[`${result}_vs_${opponent}`]);
  /** @type {(name: string, opponent: string, tone?: (run: Run) => string) => Curve<any>} */
  const curve = (name, opponent, tone) => ({
    name: `against the ${name}`,
    tone,
    y: (row) => (counts(row, opponent)[0] === null ? null : counts(row, opponent)[0] - counts(row, opponent)[2]),
    text: (row) => counts(row, opponent).map((count, place) => `${count} ${["won", "drawn", "lost"][place]}`).join(", "),
  });
  const second = (/** @type {Run} */ run) => (run.isAlone ? "var(--chart-b)" : `color-mix(in oklab, ${run.tone} 60%, var(--ink))`);
  return levelChart(every, {
    id: "wins",
    title: "Wins minus losses",
    about: "Each level's matches against the level before it, and against the random player.",
    yLabel: "wins − losses",
    rows,
    curves: [curve("level before", "previous"), curve("random player", "random", second)],
    head: ["level", "against the level before", "against the random player"],
    cells: (run) => rows(run).map((row) => [row.level, ...["previous", "random"].map((name) => counts(row, name)[0] === null ? "" : counts(row, name).join("-"))]),
  });
}

// Bars of all results for one run; for several runs, a curve of the wins of each.
/** @type {(every: Run[]) => any[]} */
export function exactResults(every) {
  const rows = compared("lines_first");
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
      bars: rows(every[0]).map((row) => ({ x: row.level, values: exactShares(row) })),
    })];
  }
  return levelChart(every, {
    ...chart,
    about: "The probability of a win over both seats. This is exhaustive, not a sample.",
    isExact: true,
    rows,
    curves: [{ name: "won", y: (row) => row.exact_win_vs_random, text: (row) => shareText(row.exact_win_vs_random) }],
    head: ["level", "won", "drawn", "lost"],
    cells: (run) => rows(run).map((row) => [row.level, ...exactShares(row).map(shareText)]),
  });
}

// How often each level gives a win or a draw away, judged by an exact solver: by group of positions for one run, in all
// positions for several runs.
/** @type {(every: Run[]) => any[]} */
export function mistakesChart(every) {
  /** @type {(run: Run) => any[]} */
  const rows = (run) => run.story.mistakes.flatMap(({ level, ...row }) => (level === null ? [] : [{ level, ...row }]));
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
      y: (/** @type {any} */ row) => (row.group === group ? 100 * row.mistake_rate : null),
      text: (/** @type {any} */ row) => percent(row.mistake_rate),
    })),
    head: ["player", "mistakes", "best action", "points lost"],
    cells: newestMistakes,
  });
}

// The mistakes of the newest level and the reference players in all positions, the best player first.
/** @type {(run: Run) => Cells[]} */
function newestMistakes({ story }) {
  /** @type {any[]} */
  const mistakes = story.mistakes;
  const latest = Math.max(...mistakes.map((row) => row.level ?? 0));
  return mistakes
    .filter((row) => row.group === "all" && (row.level === null || row.level === latest))
    .sort((one, other) => one.mistake_rate - other.mistake_rate)
    .map((row) => [row.player, percent(row.mistake_rate), percent(row.perfect_rate), row.points_lost.toFixed(2)]);
}

// The share of late positions, or of all positions if an exact solver judges them, in which a best action is taken, by level,
// with the best reference player as a line.
/** @type {(every: Run[]) => any[]} */
export function solvedChart(every) {
  /** @type {(row: any) => number | null} */
  const share = (row) => row.endgame_optimal_rate ?? row.judged_perfect_rate;
  const rows = (/** @type {Run} */ run) => run.story.comparison.filter((row) => share(row) !== null);
  const others = every[0].story.references.filter((row) => share(row) !== null);
  const best = others.toSorted((one, other) => Number(share(other)) - Number(share(one))).slice(0, 1);
  const text = (/** @type {any} */ row) => percent(Number(share(row)));
  /** @type {(name: any, row: any) => Cells} */
  const cells = (name, row) => [name, text(row), (row.endgame_mean_loss ?? row.judged_points_lost)?.toFixed(2) ?? ""];
  return levelChart(every, {
    id: "solved",
    title: "Best actions in solved positions",
    about: "The share of positions with known exact values in which a best action is taken.",
    yLabel: "best action, in %",
    rows: /** @type {(run: Run) => any[]} */ (rows),
    curves: [{ name: "levels", y: (row) => 100 * Number(share(row)), text }],
    lines: best.map((row) => ({
      name: String(row.reference),
      tone: every[0].isAlone ? "var(--chart-b)" : "var(--quiet)",
      y: 100 * Number(share(row)),
      text: text(row),
    })),
    head: ["player", "best action", "points lost"],
    cells: (run) => [
      ...rows(run).map((row) => cells(`level ${row.level}`, row)),
      ...(run === every[0] ? others : []).map((row) => cells(row.reference, row)),
    ],
  });
}

/** @type {(every: Run[]) => any[]} */
export function ratings(every) {
  const rows = compared("rating");
  /** @type {any[]} */
  const met = every[0].story.references.filter((one) => one.reference !== "random");
  const source = met.length > 0 ? "; the horizontal lines are the players that the levels were compared with" : " counted above";
  return levelChart(every, {
    id: "ratings",
    title: "Rating",
    about: `In Elo points above the random player, from all matches${source}.`,
    yLabel: "Elo points",
    rows,
    curves: [{ name: "rating", y: ({ rating }) => rating, text: ({ rating }) => String(Math.round(rating)) }],
    lines: met.map(({ reference, rating }, number) => ({
      name: reference,
      tone: shade({ isAlone: true, tone: "" }, number, met.length),
      y: rating,
      text: String(Math.round(rating)),
    })),
    head: [met.length > 0 ? "level or player" : "level", "rating"],
    cells: (run) => [
      ...rows(run).map((row) => [row.level, Math.round(row.rating)]),
      ...(run === every[0] ? met : []).map(({ reference, rating }) => [reference, Math.round(rating)]),
    ],
  });
}
