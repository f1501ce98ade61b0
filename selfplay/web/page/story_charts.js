// The charts of a story that are curves or bars by level or epoch, of one run or of several side by side.

import { lineChart, shareChart } from "./charts.js";
import { curveName, headOf, rowsOf, shade, toneOf } from "./story_runs.js";

// Levels that are named in the legend, if no more are shown.
const MOST_NAMED = 6;

const champion = (epochs) => epochs.reduce((best, one) => (one.validation < best.validation ? one : best));
const rowsWith = (run, what) => (run.story.comparison ?? []).filter((row) => row[what] !== null);

// The runs for which a table of a story has rows.
const having = (runs, rows) => runs.filter((run) => rows(run).length > 0);

// isShown: whether the curve of a level is drawn.
export function lossCharts(runs, isShown) {
  const trained = having(runs, (run) => run.story.losses);
  return trained.length === 0 ? [] : [lossCurves(trained, isShown), lossByLevel(trained)];
}

function lossCurves(runs, isShown) {
  const shown = (run) => run.story.losses.filter(({ level }) => isShown(level));
  const all = runs.reduce((sum, run) => sum + run.story.losses.length, 0);
  const count = runs.reduce((sum, run) => sum + shown(run).length, 0);
  const curves = count === all ? `A curve for each of ${all} levels` : `${count} of ${all} levels`;
  const epochs = Math.max(...runs.flatMap((run) => run.story.losses.map((one) => one.epochs.length)));
  return lineChart({
    id: "losses",
    isWide: true,
    title: "Validation loss by epoch",
    about: `${curves}, the newest strongest in colour; a dot marks the epoch whose weights were kept.`,
    xLabel: "epoch",
    yLabel: "mean squared error",
    series: runs.flatMap((run) => shown(run).map(({ level, epochs: losses }, number, { length }) => ({
      name: curveName(run, `level ${level}`),
      tone: shade(run, number, length),
      dash: run.dash,
      dots: false,
      isQuiet: count > MOST_NAMED && number > 0 && number < length - 1,
      points: losses.map((one) => ({
        x: one.epoch,
        y: one.validation,
        isMarked: one === champion(losses),
        text: `epoch ${one.epoch}: ${one.validation.toFixed(4)}`,
      })),
    }))),
    table: {
      caption: "Validation loss by level and epoch",
      head: headOf(runs, ["level", ...Array.from({ length: epochs }, (_, number) => `epoch ${number + 1}`)]),
      rows: rowsOf(runs, (run) => shown(run).map(({ level, epochs: losses }) => [level, ...losses.map((one) => one.validation.toFixed(4))])),
    },
  });
}

function lossByLevel(runs) {
  const kept = (run) => run.story.losses.map(({ level, epochs }) => ({ level, best: champion(epochs) }));
  return lineChart({
    id: "loss-by-level",
    title: "Validation loss by level",
    about: "The lowest of each level. The table has the training loss of the same epoch too; where equal positions are merged for training, it lies far below, because it leaves out the spread of their targets.",
    xLabel: "level",
    yLabel: "mean squared error",
    marks: runs[0].story.changes.map(({ level, text }) => ({ x: level - 0.5, text: curveName(runs[0], `from level ${level}: ${text}`) })),
    series: runs.map((run) => ({
      name: curveName(run, "validation").replace(": validation", ""),
      tone: toneOf(run),
      dash: run.dash,
      points: kept(run).map(({ level, best }) => ({ x: level, y: best.validation, text: `level ${level}: ${best.validation.toFixed(4)}` })),
    })),
    table: {
      caption: "Loss by level",
      head: headOf(runs, ["level", "epoch kept", "validation", "training"]),
      rows: rowsOf(runs, (run) => kept(run).map(({ level, best }) => [level, best.epoch, best.validation.toFixed(4), best.training.toFixed(4)])),
    },
  });
}

export function winsMinusLosses(every) {
  const rows = (run) => rowsWith(run, "previous");
  const runs = having(every, rows);
  const line = (run, opponent) => rows(run).map((row) => {
    const { wins, draws, losses } = row[opponent];
    return { x: row.level, y: wins - losses, text: `level ${row.level}: ${wins} won, ${draws} drawn, ${losses} lost` };
  });
  const counted = (results) => `${results.wins}-${results.draws}-${results.losses}`;
  return runs.length === 0 ? [] : [lineChart({
    id: "wins",
    title: "Wins minus losses",
    about: "Each level's matches against the level before it, and against the random player.",
    xLabel: "level",
    yLabel: "wins − losses",
    series: runs.flatMap((run) => [
      { name: curveName(run, "against the level before"), tone: toneOf(run), dash: run.dash, points: line(run, "previous") },
      { name: curveName(run, "against the random player"), tone: run.isAlone ? "var(--chart-b)" : `color-mix(in oklab, ${run.tone} 60%, var(--ink))`, dash: run.dash, points: line(run, "random") },
    ]),
    table: {
      caption: "Matches won, drawn and lost",
      head: headOf(runs, ["level", "against the level before", "against the random player"]),
      rows: rowsOf(runs, (run) => rows(run).map((row) => [row.level, counted(row.previous), counted(row.random)])),
    },
  })];
}

// Bars of all results for one run; of several, the wins of each as a curve.
export function exactResults(every) {
  const rows = (run) => rowsWith(run, "exact");
  const runs = having(every, rows);
  if (runs.length === 0) {
    return [];
  }
  const about = { id: "exact", xLabel: "level", yLabel: "probability" };
  if (every.length === 1) {
    return [shareChart({
      ...about,
      title: "Against the random player, exactly",
      about: "The probability of each result over both seats. This is exhaustive, not a sample.",
      parts: [
        { name: "won", tone: "var(--chart-won)" },
        { name: "drawn", tone: "var(--chart-drawn)" },
        { name: "lost", tone: "var(--chart-lost)" },
      ],
      bars: rows(runs[0]).map(({ level, exact }) => ({ x: level, values: [exact.win, exact.draw, exact.loss] })),
    })];
  }
  return [lineChart({
    ...about,
    title: "Won against the random player, exactly",
    about: "The probability of a win over both seats. This is exhaustive, not a sample.",
    series: runs.map((run) => ({
      name: run.name,
      tone: run.tone,
      dash: run.dash,
      points: rows(run).map(({ level, exact }) => ({ x: level, y: exact.win, text: `level ${level}: ${exact.win.toFixed(4)}` })),
    })),
    table: {
      caption: "Exact results against the random player",
      head: headOf(runs, ["level", "won", "drawn", "lost"]),
      rows: rowsOf(runs, (run) => rows(run).map(({ level, exact }) => [level, ...[exact.win, exact.draw, exact.loss].map((share) => share.toFixed(4))])),
    },
  })];
}

export function ratings(every) {
  const rows = (run) => rowsWith(run, "rating");
  const runs = having(every, rows);
  if (runs.length === 0) {
    return [];
  }
  const levels = runs.flatMap((run) => rows(run).map((row) => row.level));
  const met = (runs[0].story.references ?? []).filter((one) => one.player !== "random");
  return [lineChart({
    id: "ratings",
    title: "Rating",
    about: `In Elo points above the random player, from all matches${met.length > 0 ? "; the horizontal lines are the players that the levels were compared with" : " counted above"}.`,
    xLabel: "level",
    yLabel: "Elo points",
    series: [
      ...runs.map((run) => ({
        name: run.isAlone ? "rating" : run.name,
        tone: toneOf(run),
        dash: run.dash,
        points: rows(run).map((row) => ({ x: row.level, y: row.rating, text: `level ${row.level}: ${Math.round(row.rating)}` })),
      })),
      ...met.map(({ player, rating }, number) => ({
        name: player,
        tone: shade({ isAlone: true }, number, met.length),
        dots: false,
        isQuiet: number > 0 && number < met.length - 1,
        points: [Math.min(...levels), Math.max(...levels)].map((level) => ({ x: level, y: rating, text: String(Math.round(rating)) })),
      })),
    ],
    table: {
      caption: "Ratings",
      head: headOf(runs, [met.length > 0 ? "level or player" : "level", "rating"]),
      rows: rowsOf(runs, (run) => [...rows(run).map((row) => [row.level, Math.round(row.rating)]), ...(run === runs[0] ? met : []).map(({ player, rating }) => [player, Math.round(rating)])]),
    },
  })];
}
