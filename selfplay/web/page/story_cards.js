// The cards of a story that are not charts of training: its summary, and how levels act in positions with exact values.

import { lineChart, table } from "./charts.js";
import { element, printed } from "./drawing.js";
import { headOf, rowsOf, toneOf } from "./story_runs.js";

// Empty until the levels have been compared.
const ratingText = (row) => (typeof row?.rating === "number" ? Math.round(row.rating) : "");
const percent = (share) => (share === null || share === undefined ? "" : `${(100 * share).toFixed(1)} %`);

export function card(id, title, about, ...made) {
  const caption = element("figcaption", {}, element("h2", {}, title), element("p", { class: "quiet" }, about));
  const scroll = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title }, ...made);
  return element("figure", { class: "card wide", id }, caption, scroll);
}

function duration(seconds) {
  if (seconds < 90) {
    return `${Math.round(seconds)} seconds`;
  }
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} minutes` : `${(minutes / 60).toFixed(1)} hours`;
}

// "Level 3 of 15, about 4 minutes left"
export function progress({ levels, summary }) {
  const of = summary.wanted_levels === null ? "" : ` of ${summary.wanted_levels}`;
  const left = summary.seconds_left === null ? "" : `, about ${duration(summary.seconds_left)} left for the others`;
  return levels.length === 0 ? "" : `Level ${levels.at(-1)}${of}${left}.`;
}

// The verdict, the settings, and the end of the log: the first card.
export function summaryCard(story) {
  const { summary } = story;
  const parts = [];
  if (summary.report !== null) {
    parts.push(element("pre", { class: "report" }, summary.report));
  }
  if (summary.log.length > 0) {
    const log = element("pre", { class: "log" }, summary.log.join("\n"));
    parts.push(element("details", { open: summary.report === null }, element("summary", {}, "The last lines of the log"), log));
  }
  const about = [progress(story), summary.settings.join(", ")].filter(Boolean).join(" ");
  return card("summary", summary.report === null ? "The run" : "The verdict", about, ...parts);
}

const GROUP_TONES = ["var(--chart-a)", "var(--chart-b)", "var(--chart-won)", "var(--chart-lost)", "var(--quiet)", "var(--chart-new)"];

// How often each level gives a win or a draw away, as an exact solver judges it: by group of positions for one run, in
// all positions for several.
export function mistakesChart(every) {
  const ofLevels = (run) => (run.story.mistakes ?? []).filter((row) => row.level !== null);
  const runs = every.filter((run) => ofLevels(run).length > 0);
  if (runs.length === 0) {
    return [];
  }
  const groups = every.length > 1 ? ["all"] : [...new Set(runs[0].story.mistakes.map((row) => row.group))];
  const curve = (run, group) => ofLevels(run)
    .filter((row) => row.group === group)
    .map((row) => ({ x: row.level, y: 100 * row.mistake_rate, text: `level ${row.level}: ${percent(row.mistake_rate)}` }));
  const tone = (run, group, number) => (!run.isAlone ? run.tone : group === "all" ? "var(--ink)" : GROUP_TONES[number % GROUP_TONES.length]);
  return [lineChart({
    id: "mistakes",
    title: "Mistakes, judged by the exact solver",
    about: `The share of positions in which a level gives a win or a draw away${every.length > 1 ? "." : "; “all” has all groups together."}`,
    xLabel: "level",
    yLabel: "mistakes, in %",
    series: runs.flatMap((run) => groups.map((group, number) => ({
      name: run.isAlone ? group : run.name,
      tone: tone(run, group, number),
      dash: run.dash,
      dots: group === "all",
      points: curve(run, group),
    }))),
    table: {
      caption: "Mistakes in all judged positions",
      head: headOf(runs, ["player", "mistakes", "best action", "points lost"]),
      rows: rowsOf(runs, newestMistakes),
    },
  })];
}

// The newest level and the reference players, the best first.
function newestMistakes({ story: { mistakes } }) {
  const latest = Math.max(...mistakes.map((row) => row.level ?? 0));
  return mistakes
    .filter((row) => row.group === "all" && (row.level === null || row.level === latest))
    .sort((one, other) => one.mistake_rate - other.mistake_rate)
    .map((row) => [row.player, percent(row.mistake_rate), percent(row.perfect_rate), row.points_lost.toFixed(2)]);
}

// The share of late positions in which a best action is taken, by level, with the best reference player as a line.
export function solvedChart(every) {
  const solved = (run) => (run.story.comparison ?? []).filter((row) => row.solved !== null);
  const runs = every.filter((run) => solved(run).length > 0);
  if (runs.length === 0) {
    return [];
  }
  const levels = runs.flatMap((run) => solved(run).map((row) => row.level));
  const others = (runs[0].story.references ?? []).filter((one) => one.solved !== null);
  const best = others.reduce((found, one) => (found === null || one.solved.optimal > found.solved.optimal ? one : found), null);
  const lost = ({ points_lost: points }) => (points === null ? "" : points.toFixed(2));
  const known = (run) => [...solved(run).map((row) => [`level ${row.level}`, row.solved]), ...(run === runs[0] ? others : []).map((one) => [one.player, one.solved])];
  return [lineChart({
    id: "solved",
    title: "Best actions in solved positions",
    about: "The share of positions with known exact values in which a best action is taken.",
    xLabel: "level",
    yLabel: "best action, in %",
    series: [
      ...runs.map((run) => ({
        name: run.isAlone ? "levels" : run.name,
        tone: toneOf(run),
        dash: run.dash,
        points: solved(run).map((row) => ({ x: row.level, y: 100 * row.solved.optimal, text: `level ${row.level}: ${percent(row.solved.optimal)}` })),
      })),
      ...(best === null ? [] : [{
        name: best.player,
        tone: runs[0].isAlone ? "var(--chart-b)" : "var(--quiet)",
        dots: false,
        points: [Math.min(...levels), Math.max(...levels)].map((level) => ({ x: level, y: 100 * best.solved.optimal, text: percent(best.solved.optimal) })),
      }]),
    ],
    table: {
      caption: "Solved positions",
      head: headOf(runs, ["player", "best action", "points lost"]),
      rows: rowsOf(runs, (run) => known(run).map(([name, found]) => [name, percent(found.optimal), lost(found)])),
    },
  })];
}

// The newest level of each run in a row, with the settings that are not the same in all of them.
export function runsCard(runs) {
  const differs = (setting) => !runs.every(({ story }) => story.summary.settings.includes(setting));
  const rows = runs.map(({ name, story }) => {
    const newest = story.comparison?.at(-1);
    const losses = story.losses.at(-1)?.epochs.map((one) => one.validation) ?? [];
    const exact = newest?.exact;
    return [
      name,
      story.levels.at(-1) ?? "",
      losses.length > 0 ? Math.min(...losses).toFixed(4) : "",
      ratingText(newest),
      exact ? exact.win.toFixed(4) : "",
      exact ? `${printed(exact.lost_first)}, ${printed(exact.lost_second)}` : "",
      story.summary.settings.filter(differs).join(", "),
    ];
  });
  const head = ["run", "newest level", "validation loss", "rating", "won v random, exactly", "lines lost first, second", "settings that differ"];
  const made = table({ caption: "The newest level of each run", head, rows });
  return card("side-by-side", "The runs side by side", "The newest level of each run, and its last comparison.", made);
}

// The matches of the newest level against players that are not levels.
export function matchesCard(matches) {
  const newest = Math.max(...matches.map((row) => row.level));
  const rows = matches
    .filter((row) => row.level === newest)
    .map(({ opponent, results: { wins, draws, losses } }) => [opponent, wins, draws, losses, percent(wins / (wins + draws + losses))]);
  const made = table({ caption: "Matches", head: ["opponent", "won", "drawn", "lost", "share won"], rows });
  return card("matches", `Level ${newest} against other players`, "From random openings, with each player first in half of the matches.", made);
}

export function exactTable(rows) {
  const made = table({
    caption: "Exact results of each level",
    head: ["level", "won", "drawn", "lost", "lines lost moving first", "lines lost moving second", "optimal actions", "rating"],
    rows: rows.map(({ level, exact, rating }) => [
      level,
      ...[exact.win, exact.draw, exact.loss].map((share) => share.toFixed(4)),
      printed(exact.lost_first),
      printed(exact.lost_second),
      exact.optimal.toFixed(4),
      ratingText({ rating }),
    ]),
  });
  return card("certain", "Exact results of every level", "Results against the random player, and the lines lost when the opponent tries every reply.", made);
}

export function tournamentTable(players) {
  const rows = players.map((one) => [one.player, Math.round(one.rating), `${Math.round(one.low)} to ${Math.round(one.high)}`]);
  return card("tournament", "Tournament", "Ratings of all players, with 95 % intervals.", table({ caption: "Ratings", head: ["player", "rating", "95 %"], rows }));
}
