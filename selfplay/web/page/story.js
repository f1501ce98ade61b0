// The view of a run's story. It is updated while it is open, because the run may be in progress.

import * as api from "./api.js";
import { drawFor, lineChart, shareChart, table } from "./charts.js";
import { at, element, printed } from "./drawing.js";
import { card, matchesCard, mistakesChart, progress, solvedChart, summaryCard } from "./story_cards.js";

const MILLISECONDS = 1000;

let timer = null;
let shown = null;
let visit = 0;

export async function open(game) {
  close();
  shown = null;
  at("story-title").textContent = `${game.title}: the story of the run`;
  at("story-state").textContent = "One moment…";
  at("charts").replaceChildren();
  at("story-notes").replaceChildren();
  await look(game, visit, true);
}

export function close() {
  visit += 1;
  clearTimeout(timer);
}

async function look(game, mine, isNew) {
  try {
    if (isNew || !document.hidden) {
      const story = await api.story(game.name, isNew);
      if (mine === visit && story !== null) {
        show(story);
      }
    }
  } catch (error) {
    if (mine === visit) {
      at("story-state").textContent = error instanceof TypeError ? "The server does not answer." : error.message;
    }
  }
  if (mine === visit) {
    timer = setTimeout(() => look(game, mine, false), MILLISECONDS);
  }
}

function show(story) {
  shown = story;
  drawFor(at("charts").clientWidth);
  const count = story.levels.length;
  const levels = count === 0 ? "no level yet" : count === 1 ? "1 level" : `${count} levels`;
  at("story-state").replaceChildren(
    ...(story.is_running ? [element("span", { class: "live" }, "live"), ` The run is in progress. ${progress(story)} `] : []),
    `${levels} in ${story.run}`,
  );
  at("story-notes").replaceChildren(...story.notes.map((note) => element("li", {}, note)));
  const all = () => [...document.querySelectorAll("#charts figure")].filter((one) => one.querySelector("details"));
  const opened = new Map(all().map((one) => [one.id, one.querySelector("details").open]));
  at("charts").replaceChildren(...charts(story));
  all().forEach((one) => {
    const details = one.querySelector("details");
    details.open = opened.get(one.id) ?? details.open;
  });
}

function charts(story) {
  const rows = story.comparison ?? [];
  const played = rows.filter((row) => row.previous !== null);
  const exact = rows.filter((row) => row.exact !== null);
  const { mistakes, matches, references } = story;
  return [
    ...(story.levels.length > 0 || story.summary.log.length > 0 ? [summaryCard(story)] : []),
    ...(story.losses.length > 0 ? [lossCurves(story.losses), lossByLevel(story.losses)] : []),
    ...(played.length > 0 ? [winsMinusLosses(played)] : []),
    ...(exact.length > 0 ? [exactShares(exact)] : []),
    ...(mistakes?.some((row) => row.level !== null) ? [mistakesChart(mistakes)] : []),
    ...(!mistakes && rows.some((row) => row.solved !== null) ? [solvedChart(rows, references ?? [])] : []),
    ...(rows.length > 0 ? [ratings(rows, story.references ?? [])] : []),
    ...(matches?.length > 0 ? [matchesCard(matches)] : []),
    ...(exact.length > 0 ? [exactTable(exact)] : []),
    ...(story.tournament ? [tournamentTable(story.tournament)] : []),
  ];
}

window.addEventListener("resize", () => {
  if (shown !== null && !at("story").hidden) {
    show(shown);
  }
});

// The colour of a level: the first is close to the background, the newest stands out most.
const shade = (number, count) => `color-mix(in oklab, var(--chart-new) ${Math.round((100 * (number + 1)) / count)}%, var(--chart-old))`;

const champion = (epochs) => epochs.reduce((best, one) => (one.validation < best.validation ? one : best));

function lossCurves(losses) {
  return lineChart({
    id: "losses",
    isWide: true,
    title: "Validation loss by epoch",
    about: `A curve for each of ${losses.length} levels, the newest strongest in colour; a dot marks the epoch whose weights were kept.`,
    xLabel: "epoch",
    yLabel: "mean squared error",
    series: losses.map(({ level, epochs }, number) => ({
      name: `level ${level}`,
      tone: shade(number, losses.length),
      dots: false,
      isQuiet: number > 0 && number < losses.length - 1,
      points: epochs.map((one) => ({
        x: one.epoch,
        y: one.validation,
        isMarked: one === champion(epochs),
        text: `epoch ${one.epoch}: ${one.validation.toFixed(4)}`,
      })),
    })),
    table: {
      caption: "Validation loss by level and epoch",
      head: ["level", ...losses[0].epochs.map((one) => `epoch ${one.epoch}`)],
      rows: losses.map(({ level, epochs }) => [level, ...epochs.map((one) => one.validation.toFixed(4))]),
    },
  });
}

function lossByLevel(losses) {
  const kept = losses.map(({ level, epochs }) => ({ level, best: champion(epochs) }));
  const points = (what) => kept.map(({ level, best }) => ({ x: level, y: best[what], text: `level ${level}: ${best[what].toFixed(4)}` }));
  return lineChart({
    id: "loss-by-level",
    title: "Loss by level",
    about: "The lowest validation loss of each level, and the training loss of the same epoch.",
    xLabel: "level",
    yLabel: "mean squared error",
    series: [
      { name: "validation", tone: "var(--chart-a)", points: points("validation") },
      { name: "training (as weighted by the recipe)", tone: "var(--chart-b)", points: points("training") },
    ],
    table: {
      caption: "Loss by level",
      head: ["level", "epoch kept", "validation", "training"],
      rows: kept.map(({ level, best }) => [level, best.epoch, best.validation.toFixed(4), best.training.toFixed(4)]),
    },
  });
}

function winsMinusLosses(rows) {
  const line = (opponent) => rows.map((row) => {
    const { wins, draws, losses } = row[opponent];
    return { x: row.level, y: wins - losses, text: `level ${row.level}: ${wins} won, ${draws} drawn, ${losses} lost` };
  });
  const counted = (results) => `${results.wins}-${results.draws}-${results.losses}`;
  return lineChart({
    id: "wins",
    title: "Wins minus losses",
    about: "Each level's matches against the level before it, and against the random player.",
    xLabel: "level",
    yLabel: "wins − losses",
    series: [
      { name: "against the level before", tone: "var(--chart-a)", points: line("previous") },
      { name: "against the random player", tone: "var(--chart-b)", points: line("random") },
    ],
    table: {
      caption: "Matches won, drawn and lost",
      head: ["level", "against the level before", "against the random player"],
      rows: rows.map((row) => [row.level, counted(row.previous), counted(row.random)]),
    },
  });
}

function exactShares(rows) {
  return shareChart({
    id: "exact",
    title: "Against the random player, exactly",
    about: "The probability of each result over both seats. This is exhaustive, not a sample.",
    xLabel: "level",
    yLabel: "probability",
    parts: [
      { name: "won", tone: "var(--chart-won)" },
      { name: "drawn", tone: "var(--chart-drawn)" },
      { name: "lost", tone: "var(--chart-lost)" },
    ],
    bars: rows.map(({ level, exact }) => ({ x: level, values: [exact.win, exact.draw, exact.loss] })),
  });
}

function ratings(rows, references) {
  const ends = [rows[0].level, rows.at(-1).level];
  const met = references.filter((one) => one.player !== "random");
  return lineChart({
    id: "ratings",
    title: "Rating",
    about: `In Elo points above the random player, from all matches${met.length > 0 ? "; the horizontal lines are the players that the levels were compared with" : " counted above"}.`,
    xLabel: "level",
    yLabel: "Elo points",
    series: [
      { name: "rating", tone: "var(--chart-a)", points: rows.map((row) => ({ x: row.level, y: row.rating, text: `level ${row.level}: ${Math.round(row.rating)}` })) },
      ...met.map(({ player, rating }, number) => ({
        name: player,
        tone: shade(number, met.length),
        dots: false,
        isQuiet: number > 0 && number < met.length - 1,
        points: ends.map((level) => ({ x: level, y: rating, text: String(Math.round(rating)) })),
      })),
    ],
    table: {
      caption: "Ratings",
      head: [met.length > 0 ? "level or player" : "level", "rating"],
      rows: [...rows.map((row) => [row.level, Math.round(row.rating)]), ...met.map(({ player, rating }) => [player, Math.round(rating)])],
    },
  });
}

function exactTable(rows) {
  const made = table({
    caption: "Exact results of each level",
    head: ["level", "won", "drawn", "lost", "lines lost moving first", "lines lost moving second", "optimal actions", "rating"],
    rows: rows.map(({ level, exact, rating }) => [
      level,
      ...[exact.win, exact.draw, exact.loss].map((share) => share.toFixed(4)),
      printed(exact.lost_first),
      printed(exact.lost_second),
      exact.optimal.toFixed(4),
      Math.round(rating),
    ]),
  });
  return card("certain", "Exact results of every level", "Results against the random player, and the lines lost when the opponent tries every reply.", made);
}

function tournamentTable(players) {
  const rows = players.map((one) => [one.player, Math.round(one.rating), `${Math.round(one.low)} to ${Math.round(one.high)}`]);
  return card("tournament", "Tournament", "Ratings of all players, with 95 % intervals.", table({ caption: "Ratings", head: ["player", "rating", "95 %"], rows }));
}
