// The cards of a story that are not charts of training: its summary, and how levels act in positions with exact values.

import { lineChart, table } from "./charts.js";
import { element } from "./drawing.js";

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

// How often each level gives a win or a draw away, by group of positions, as an exact solver judges it.
export function mistakesChart(rows) {
  const groups = [...new Set(rows.map((row) => row.group))];
  const ofLevels = rows.filter((row) => row.level !== null);
  const latest = Math.max(...ofLevels.map((row) => row.level));
  const shown = rows.filter((row) => row.group === "all" && (row.level === null || row.level === latest));
  return lineChart({
    id: "mistakes",
    title: "Mistakes, judged by the exact solver",
    about: "The share of positions in which a level gives a win or a draw away; “all” has all groups together.",
    xLabel: "level",
    yLabel: "mistakes, in %",
    series: groups.map((group, number) => ({
      name: group,
      tone: group === "all" ? "var(--ink)" : GROUP_TONES[number % GROUP_TONES.length],
      dots: group === "all",
      points: ofLevels
        .filter((row) => row.group === group)
        .map((row) => ({ x: row.level, y: 100 * row.mistake_rate, text: `level ${row.level}: ${percent(row.mistake_rate)}` })),
    })),
    table: {
      caption: "Mistakes in all judged positions",
      head: ["player", "mistakes", "best action", "points lost"],
      rows: shown
        .sort((one, other) => one.mistake_rate - other.mistake_rate)
        .map((row) => [row.player, percent(row.mistake_rate), percent(row.perfect_rate), row.points_lost.toFixed(2)]),
    },
  });
}

// The share of late positions in which a best action is taken, by level, with the reference players as lines.
export function solvedChart(rows, references) {
  const solved = rows.filter((row) => row.solved !== null);
  const ends = [solved[0].level, solved.at(-1).level];
  const others = references.filter((one) => one.solved !== null);
  const best = others.reduce((found, one) => (found === null || one.solved.optimal > found.solved.optimal ? one : found), null);
  const lost = ({ points_lost: points }) => (points === null ? "" : points.toFixed(2));
  return lineChart({
    id: "solved",
    title: "Best actions in solved positions",
    about: "The share of positions with known exact values in which a best action is taken.",
    xLabel: "level",
    yLabel: "best action, in %",
    series: [
      { name: "levels", tone: "var(--chart-a)", points: solved.map((row) => ({ x: row.level, y: 100 * row.solved.optimal, text: `level ${row.level}: ${percent(row.solved.optimal)}` })) },
      ...(best === null ? [] : [{ name: best.player, tone: "var(--chart-b)", dots: false, points: ends.map((level) => ({ x: level, y: 100 * best.solved.optimal, text: percent(best.solved.optimal) })) }]),
    ],
    table: {
      caption: "Solved positions",
      head: ["player", "best action", "points lost"],
      rows: [...solved.map((row) => [`level ${row.level}`, row.solved]), ...others.map((one) => [one.player, one.solved])].map(([name, found]) => [name, percent(found.optimal), lost(found)]),
    },
  });
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
