// Stepping through the moves of the match, and values that the page asks for in the background.

import { areWatching } from "./address.js";
import * as api from "./api.js";
import { aboutVariation, choices, cursor, isShown, judgedMatch, keepInAddress, mergeValues, opened, position, state, valued, wantsEstimates, wantsJudge } from "./state.js";
import { isTerritoryMissing } from "./territory.js";
import { gradeOf } from "./values.js";
import { judgedOf, viewOf } from "./view.js";
import { aboutCourse, aboutPosition, fail, say, sayProgress, whatHappened } from "./words.js";

// Seconds until a position is shown without values that are not known yet, and then between two questions for them.
const [FIRST_WAIT, NEXT_WAIT] = [0.3, 5];

// Milliseconds until a position is shown without the values that are asked for, and until the page says that they are coming.
const [LONGEST_LOOK, QUICK] = [500, 300];

// Parts of the answer about the match that is shown.
/** @type {(asked: Partial<MatchRequest>, signal?: AbortSignal) => ReturnType<typeof answerTo>} */
export const ask = (asked, signal) => answerTo({ ...opened().match, advance: !areWatching(opened().match.person), ...asked }, signal);

// The answer to a request, with the match as it is shown.
/** @type {(request: MatchRequest, signal?: AbortSignal) => Promise<Omit<Awaited<ReturnType<typeof api.match>>, "match"> & {match: MatchView}>} */
export async function answerTo(request, signal) {
  const { game } = opened();
  const answer = await api.match(request, signal);
  return { ...answer, match: answer.match && viewOf(game, answer.match) };
}

// Ends the requests for values when the match changes: the server would answer them before the next move.
let background = new AbortController();

export function stopAsking() {
  background.abort();
  background = new AbortController();
}

// ---------------------------------------------------------------------- stepping

// Counts the steps asked for.
let steps = 0;

// to: a number of plies, or a function from the number of plies that are shown.
/** @type {(to: Step) => Promise<void>} */
export async function goTo(to) {
  const asked = state.answer;
  if (asked === null || state.isBusy || state.isRunning || state.isEdited) {
    return;
  }
  steps += 1;
  const [mine, count] = [steps, asked.plies.length];
  const ply = Math.max(0, Math.min(count, typeof to === "function" ? to(state.wanted ?? count) : to));
  const { signal } = background;
  const isWanted = () => asked === state.answer && mine === steps && !signal.aborted;
  state.wanted = ply;
  try {
    await lookBack(ply, isWanted);
    if (isWanted()) {
      Object.assign(state, { ply: ply < count ? ply : null, hint: null });
      await look();
    }
    if (isWanted()) {
      keepInAddress();
      state.render();
      sayPosition();
      askForMore();
    }
  } catch (error) {
    if (isWanted()) {
      fail(error);
    }
  }
}

/** @type {(ply: number, isWanted: () => boolean) => Promise<void>} */
async function lookBack(ply, isWanted) {
  if (ply < opened().answer.plies.length && !state.positions.has(ply)) {
    const { match } = await ask({ ply });
    if (isWanted()) {
      state.positions.set(ply, { ...match, plies: match.plies.slice(0, ply) });
    }
  }
}

// Says this about the current position; at the end of a match also how it went, as soon as this is known.
/** @type {(text: string | null) => void} */
export const sayEnd = (text) => say(`${text} ${aboutCourse(judgedMatch(), state.judged)}`.trim());

function sayPosition() {
  const { answer, ply } = opened();
  if (ply === null) {
    sayEnd(aboutVariation() + whatHappened(answer, answer.plies.length));
    return;
  }
  const shown = valued();
  const last = shown.plies[ply - 1];
  const isTold = state.face === "analyse" || answer.is_over;
  const grade = isTold && last ? gradeOf(shown, last) : null;
  say(aboutVariation() + aboutPosition(answer, ply, grade ? ` (${grade}; better: ${last.best?.name})` : ""));
}

// ---------------------------------------------------------------------- values of the players

// The requests for the values that the players or the adviser give to the legal actions of a view.
/** @type {WeakMap<MatchView, Promise<void>>} */
const estimates = new WeakMap();

// Asks for these values, once. shown: the view of the position that is shown.
/** @type {(shown: MatchView) => Promise<void>} */
function estimate(shown) {
  const asked = estimates.get(shown) ?? askPlayers(shown);
  estimates.set(shown, asked);
  asked.catch(() => estimates.delete(shown));
  return asked;
}

/** @type {(shown: MatchView) => Promise<void>} */
async function askPlayers(shown) {
  const { match } = await ask({ ply: state.ply, valued: cursor(), values_all: true }, background.signal);
  const { legal, values_in_points } = match;
  Object.assign(shown, { legal, values_in_points });
}

// Asks for the values of the plies that are not known. An answer has as many as its time allows; without any, the others are
// not known to the players.
/** @type {(isCurrent: () => boolean) => Promise<void>} */
async function fill(isCurrent) {
  const { plies } = opened().answer;
  let first = 0;
  while (isCurrent()) {
    const next = plies.findIndex((ply, number) => number >= first && ply.value === null && !ply.is_forced);
    if (next < 0) {
      return;
    }
    const { match } = await ask({ ply: next, valued: next }, background.signal);
    first = match.plies.findLastIndex(({ value }) => value !== null) + 1;
    if (first <= next || !isCurrent()) {
      return;
    }
    mergeValues(opened().answer, match.plies);
    state.render();
  }
}

// ---------------------------------------------------------------------- values of the judge

// The requests for them that are running.
/** @type {Map<string, Promise<void>>} */
const asking = new Map();

// Asks for the values in a position, of all actions in the one that is shown, unless a request for them is running.
/** @type {(ply: number, seconds: number) => Promise<void>} */
function askJudge(ply, seconds) {
  const key = `${state.changes} ${ply} ${ply === cursor()}`;
  const asked = asking.get(key) ?? judge(ply, seconds).finally(() => asking.delete(key));
  asking.set(key, asked);
  return asked;
}

/** @type {(ply: number, seconds: number) => Promise<void>} */
async function judge(ply, seconds) {
  const mine = state.changes;
  const { game, answer } = opened();
  const isOfAll = ply === cursor();
  const { judged } = await ask({ ply, seconds, show: ["judged"], values_all: isOfAll }, background.signal);
  if (mine === state.changes) {
    state.judged.set(ply, { ...judgedOf(game, answer, judged), isOfAll: isOfAll || judged.legal.every(({ value }) => value !== null) });
  }
}

// Asks for the values of the position that is shown, if they are wanted and a person has to choose or looks back. Values that
// take long are shown by askForMore.
export async function look() {
  if (state.ply === null && !opened().answer.awaits_person) {
    return;
  }
  const isJudged = !wantsJudge() || state.judged.get(cursor())?.isOfAll;
  const asked = !isJudged ? askJudge(cursor(), FIRST_WAIT) : wantsEstimates() ? estimate(position()) : null;
  asked?.catch(() => {});
  await Promise.race([asked, new Promise((done) => setTimeout(done, LONGEST_LOOK))]);
}

// Whether the values of a position are known, of the one that is shown those of all actions.
/** @type {(ply: number) => boolean | undefined} */
const isKnown = (ply) => state.judged.get(ply)?.isComplete && (ply !== cursor() || state.judged.get(ply)?.isOfAll);

// Counts the calls of solve.
let solving = 0;

// Asks for the values of these positions until all are known, and shows them. After a match, says how many are known.
/** @type {(plies: number[], isCurrent: () => boolean) => Promise<void>} */
export async function solve(plies, isCurrent) {
  solving += 1;
  const mine = solving;
  const { signal } = background;
  const isWanted = () => mine === solving && isCurrent() && wantsJudge() && !signal.aborted;
  const begun = performance.now();
  const tell = () => {
    if (isWanted() && opened().answer.is_over && performance.now() - begun >= QUICK) {
      sayProgress(`Reviewing… ${plies.filter(isKnown).length} of ${plies.length}`);
    }
  };
  const telling = setTimeout(tell, QUICK);
  try {
    for (const ply of plies) {
      await solveOne(ply, isWanted, tell);
    }
  } finally {
    clearTimeout(telling);
    if (mine === solving) {
      sayProgress("");
    }
  }
}

/** @type {(ply: number, isWanted: () => boolean, tell: () => void) => Promise<void>} */
async function solveOne(ply, isWanted, tell) {
  const { signal } = background;
  while (isWanted() && !isKnown(ply)) {
    await askJudge(ply, NEXT_WAIT).catch((error) => {
      if (!signal.aborted) {
        throw error;
      }
    });
    if (isWanted()) {
      state.render();
      tell();
    }
  }
}

// Asks who can be expected to own each square of the position that is shown.
/** @type {(signal: AbortSignal) => Promise<void>} */
async function askForTerritory(signal) {
  const [mine, ply] = [state.changes, cursor()];
  const { territory } = await ask({ ply, show: ["territory"] }, signal);
  if (mine === state.changes) {
    state.territories.set(ply, territory);
  }
}

// Values that the page gets later: estimates of earlier plies, and those of the judge.
export function askForMore() {
  const asked = state.answer;
  if (asked === null || state.isRunning) {
    return;
  }
  const { signal } = background;
  const isCurrent = () => isShown(asked) && state.exercise === null && !signal.aborted;
  const isChoice = state.ply !== null || asked.awaits_person;
  if (isTerritoryMissing()) {
    askForTerritory(signal).then(() => isCurrent() && state.render(), (error) => isCurrent() && fail(error));
  }
  if (wantsEstimates() && !wantsJudge()) {
    Promise.resolve(isChoice ? estimate(position()) : null)
      .then(() => isCurrent() && state.render())
      .then(() => fill(isCurrent))
      .catch((error) => isShown(asked) && !signal.aborted && fail(error));
  }
  solve([...new Set([...(isChoice ? [cursor()] : []), ...choices(asked)])], isCurrent)
    .then(() => isCurrent() && asked.is_over && state.ply === null && sayEnd(asked.result))
    .catch((error) => isShown(asked) && fail(error));
}
