// The view of a run's story. It is updated while it is open, because the run may be in progress.

import * as api from "./api.js";
import { drawFor } from "./charts.js";
import { at, element } from "./drawing.js";
import { exactTable, matchesCard, progress, runsCard, summaryCard, tournamentTable } from "./story_cards.js";
import * as charts from "./story_charts.js";
import { StoryChoices } from "./story_choices.js";
import { runsOf } from "./story_runs.js";

const MILLISECONDS = 1000;

const choices = new StoryChoices((areRunsNew) => (areRunsNew ? lookNow() : redraw()));
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
/** @type {any} */
let opened = null;
let visit = 0;
// By the id of a run, null for the game's own: its story, or the sentence that says why there is none.
/** @type {Map<string | null, any>} */
let stories = new Map();

/** @type {(what: string) => string} */
const titleOf = (what) => `${opened.title}: the story of the ${what}`;

export const savedAddress = () => (opened === null ? null : choices.savedAddress());

/** @type {(game: GameView) => Promise<void>} */
export async function open(game) {
  opened = game;
  stories = new Map();
  at("story-title").textContent = titleOf("run");
  at("story-state").textContent = "One moment…";
  at("charts").replaceChildren();
  at("story-notes").replaceChildren();
  choices.open(game.name);
  history.replaceState(null, "", savedAddress());
  api.runs(game.name).then((runs) => opened === game && choices.offerRuns(runs), () => {});
  await lookNow();
}

export function close() {
  visit += 1;
  clearTimeout(timer);
}

// Starts anew, so that an answer to an earlier choice of runs is ignored.
async function lookNow() {
  close();
  await look(visit);
}

/** @type {(mine: number) => Promise<void>} */
async function look(mine) {
  if (stories.size === 0 || !document.hidden) {
    const wanted = [null, ...choices.chosen.runs];
    const answers = await Promise.all(wanted.map(ask));
    if (mine === visit) {
      take(wanted, answers);
    }
  }
  if (mine === visit) {
    timer = setTimeout(() => look(mine), MILLISECONDS);
  }
}

// The story of a run, null if it has not changed, or the sentence that says why there is none.
/** @type {(run: string | null) => Promise<StoryView | string | null>} */
async function ask(run) {
  const isNew = typeof stories.get(run) !== "object";
  return api.story(opened.name, isNew, run).catch((error) => (error instanceof TypeError ? "The server does not answer." : error.message));
}

/** @type {(wanted: (string | null)[], answers: (StoryView | string | null)[]) => void} */
function take(wanted, answers) {
  const before = stories;
  stories = new Map(wanted.map((run, number) => [run, answers[number] ?? before.get(run)]));
  if (typeof answers[0] === "string") {
    // The page keeps showing the data that it has.
    at("story-state").textContent = answers[0];
    stories.set(null, before.get(null));
  } else if (before.size !== stories.size || answers.some((answer, number) => answer !== null && answer !== before.get(wanted[number]))) {
    redraw();
  }
}

function redraw() {
  const story = stories.get(null);
  if (typeof story !== "object") {
    return;
  }
  const every = [...stories.values()];
  /** @type {StoryView[]} */
  const all = every.filter((one) => typeof one === "object");
  const problems = every.filter((one) => typeof one === "string");
  drawFor(at("charts").clientWidth, choices.chosen.smoothing);
  at("story-title").textContent = titleOf(story.comes_with_program ? "agent that comes with the program" : "run");
  const count = story.levels.length;
  const levels = count === 0 ? "no level yet" : count === 1 ? "1 level" : `${count} levels`;
  const others = story.losses.length > 0 ? "of the earlier levels only the tables do" : "it was compared without the earlier levels";
  const shipped = `Level ${story.levels.at(-1)} comes with the program; ${others}.`;
  at("story-state").replaceChildren(
    ...(story.is_running ? [element("span", { class: "live" }, "live"), ` The run is in progress. ${progress(story)} `] : []),
    story.comes_with_program ? shipped : `${levels} in ${story.run}`,
  );
  at("story-notes").replaceChildren(...[...story.notes, ...problems].map((note) => element("li", {}, note)));
  choices.offerLevels([...new Set(all.flatMap((one) => one.losses.map(({ level }) => level)))].sort((one, other) => one - other));
  const tables = () => [...at("charts").querySelectorAll("details")];
  const wereOpen = new Map(tables().map((one) => [one.closest("figure").id, one.open]));
  at("charts").replaceChildren(...cards(story, runsOf(all)));
  tables().forEach((one) => (one.open = wereOpen.get(one.closest("figure").id) ?? one.open));
}

/** @type {(story: StoryView, runs: Run[]) => any[]} */
function cards(story, runs) {
  const exact = story.comparison.filter((row) => row.lines_first !== null);
  return [
    ...charts.lossCurves(runs, (level) => choices.shows(level)),
    ...charts.lossByLevel(runs),
    ...charts.versusRollouts(runs),
    ...charts.winsMinusLosses(runs),
    ...charts.exactResults(runs),
    ...charts.mistakesChart(runs),
    ...(story.mistakes.length > 0 ? [] : charts.solvedChart(runs)),
    ...charts.ratings(runs),
    ...(story.levels.length > 0 || story.summary.log.length > 0 ? [summaryCard(story)] : []),
    ...(runs.length > 1 ? [runsCard(runs)] : []),
    ...(story.matches.length > 0 ? [matchesCard(story.matches)] : []),
    ...(exact.length > 0 ? [exactTable(exact)] : []),
    ...(story.tournament.length > 0 ? [tournamentTable(story.tournament)] : []),
  ];
}

window.addEventListener("resize", () => !at("story").hidden && redraw());
