// The cards of a story that are not charts: its summary, and tables.

import { shareText, table } from "./charts.js";
import { element, printed } from "./drawing.js";
import { exactShares } from "./story_runs.js";

// From this count on, texts have two digits of it.
const LARGE = 1e7;

// Empty until the levels have been compared.
/** @type {(row: {rating: number | null} | undefined) => string | number} */
const ratingText = (row) => (typeof row?.rating === "number" ? Math.round(row.rating) : "");

// 255168, or 1.1 x 10^18.
/** @type {(count: number) => string} */
const countText = (count) => (count < LARGE ? String(count) : count.toExponential(1).replace("e+", " x 10^"));

// The lines that a level loses moving first and second, and all lines: 3 of 59.
/** @type {(row: any) => string[]} */
const lostLines = (row) => ["first", "second"].map((seat) => printed(`${countText(row[`losing_lines_${seat}`])} of ${countText(row[`lines_${seat}`])}`));

/** @type {(id: string, title: string, about: string, ...made: Element[]) => any} */
function card(id, title, about, ...made) {
  const caption = element("figcaption", {}, element("h2", {}, title), element("p", { class: "quiet" }, about));
  const scroll = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title }, ...made);
  return element("figure", { class: "card wide", id }, caption, scroll);
}

/** @type {(seconds: number) => string} */
function duration(seconds) {
  if (seconds < 90) {
    return `${Math.round(seconds)} seconds`;
  }
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} minutes` : `${(minutes / 60).toFixed(1)} hours`;
}

// "Level 3 of 15, about 4 minutes left"
/** @type {(story: StoryView) => string} */
export function progress({ levels, summary }) {
  const of = summary.wanted_levels === null ? "" : ` of ${summary.wanted_levels}`;
  const left = summary.seconds_left === null ? "" : `, about ${duration(summary.seconds_left)} left for the others`;
  return levels.length === 0 ? "" : `Level ${levels.at(-1)}${of}${left}.`;
}

// The verdict, the settings, and the end of the log.
/** @type {(story: StoryView) => any} */
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

// The newest level of each run in a row, with the settings that are not the same in all of them.
/** @type {(runs: Run[]) => any} */
export function runsCard(runs) {
  const differs = (/** @type {string} */ setting) => !runs.every(({ story }) => story.summary.settings.includes(setting));
  const rows = runs.map(({ name, story }) => {
    const newest = story.comparison.at(-1);
    const last = story.losses.at(-1);
    const losses = last?.judged_by === "validation_loss" ? last.epochs.map((one) => one.judged) : [];
    const isExact = typeof newest?.lines_first === "number";
    return [
      name,
      story.levels.at(-1) ?? "",
      losses.length > 0 ? Math.min(...losses).toFixed(4) : "",
      ratingText(newest),
      isExact ? shareText(exactShares(newest)[0]) : "",
      isExact ? lostLines(newest).join(", ") : "",
      story.summary.settings.filter(differs).join(", "),
    ];
  });
  const head = ["run", "newest level", "validation loss", "rating", "won v random, exactly", "lines lost first, second", "settings that differ"];
  const made = table({ caption: "The newest level of each run", head, rows });
  return card("side-by-side", "The runs side by side", "The newest level of each run, and its last comparison.", made);
}

// The matches of the newest level against players that are not levels.
/** @type {(matches: any[]) => any} */
export function matchesCard(matches) {
  const newest = Math.max(...matches.map((row) => row.level));
  const rows = matches
    .filter((row) => row.level === newest)
    .map(({ opponent, wins, draws, losses }) => [opponent, wins, draws, losses, `${((100 * wins) / (wins + draws + losses)).toFixed(1)} %`]);
  const made = table({ caption: "Matches", head: ["opponent", "won", "drawn", "lost", "share won"], rows });
  return card("matches", `Level ${newest} against other players`, "From random openings, with each player first in half of the matches.", made);
}

/** @type {(rows: any[]) => any} */
export function exactTable(rows) {
  const made = table({
    caption: "Exact results of each level",
    head: ["level", "won", "drawn", "lost", "lines lost moving first", "lines lost moving second", "optimal actions", "rating"],
    rows: rows.map((row) => [
      row.level,
      ...exactShares(row).map(shareText),
      ...lostLines(row),
      shareText(row.optimal_action_rate),
      ratingText(row),
    ]),
  });
  return card("certain", "Exact results of every level", "Results against the random player, and the lines lost when the opponent tries every reply.", made);
}

/** @type {(players: any[]) => any} */
export function tournamentTable(players) {
  const rows = players.map((one) => [one.player, Math.round(one.rating), `${Math.round(one.rating_low)} to ${Math.round(one.rating_high)}`]);
  return card("tournament", "Tournament", "Ratings of all players, with 95 % intervals.", table({ caption: "Ratings", head: ["player", "rating", "95 %"], rows }));
}
