// Actions that change the match: each makes another match, asks for the server's view of it, and shows it. Until then, and if
// this fails, the match stays as it is.

import * as address from "./address.js";
import { foreseen } from "./board.js";
import { propose } from "./counting.js";
import { at, check, checked } from "./drawing.js";
import { chosenStart } from "./options.js";
import * as players from "./players.js";
import { arePrepared, isLate, notePrepared, prepare } from "./preparing.js";
import { answerTo, askForMore, look, stopAsking } from "./review.js";
import { aboutVariation, count, forgetLeft, keepInAddress, keepInHistory, matchItself, movesBefore, opened, sharedPlies, state, take } from "./state.js";
import { capital, fail, isThinking, PREPARING, say, whatHappened, whatToDo } from "./words.js";

/**
 * foreseen: what is shown of the change until the answer comes. isNew: it is shown before its players are prepared. isOther: it
 * takes the place of the match, which can be returned to. isRead: its moves are a text from elsewhere, which may say more of it,
 * and may break off. advance: whether players move. beside: see take.
 * @typedef {{beside?: State["beside"], foreseen?: object | null, isNew?: boolean, isOther?: boolean, isRead?: boolean, advance?: boolean}} Options
 */

// Milliseconds between two questions whether the server answers again, and between two moves that are watched.
const [WAIT, PAUSE] = [1000, 700];
const BUSY = 503;
// Milliseconds after which the page says that something is on its way.
const QUICK = 300;
/** @type {(milliseconds: number) => Promise<void>} */
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// Lets the server prepare the opponent while the person thinks.
async function prepareEarly() {
  const { match, answer } = opened();
  const isCurrent = () => state.answer === answer && !state.isBusy;
  if (state.match === null || answer.person_seat === null || answer.is_over || arePrepared(match)) {
    return;
  }
  try {
    await prepare(match);
  } catch (/** @type {any} */ error) {
    // It is asked again by the next move if the server was busy, or did not answer.
    if (isCurrent() && ![0, BUSY].includes(error.status)) {
      fail(error);
      say("This opponent cannot play. Choose another one.");
    }
  }
}

/**
 * Why a request failed; game: that of the match if it is not the one that was asked for.
 * @typedef {{game?: string} | null} Failure
 */

// The request that is running.
/** @type {Promise<Failure>} */
let running = Promise.resolve(null);

// Waits until no request is running; whether the same game is still open.
export async function whenFree() {
  const mine = state.visit;
  while (state.isBusy && mine === state.visit) {
    await running;
  }
  return mine === state.visit;
}

// Makes this the match, after the moves of the players.
/** @type {(match: Match, options?: Options) => Promise<Failure>} */
export function become(match, options = {}) {
  running = asked(match, options);
  return running;
}

/** @type {(match: Match, options: Options) => Promise<Failure>} */
async function asked(match, { beside, foreseen = null, isNew = false, isOther = false, isRead = false, advance = !address.areWatching(match.person) }) {
  const mine = state.visit;
  /** @type {Failure} */
  let failure = null;
  stopAsking();
  Object.assign(state, { isBusy: true, foreseen });
  fail(null);
  state.render();
  // Its move, or that the opponent thinks, is shown at once.
  const isShown = foreseen !== null && ("squares" in foreseen || "marks" in foreseen || state.answer?.person_seat !== null);
  const isSilent = isShown || (address.areWatching(match.person) && arePrepared(match));
  const isWaiting = advance && !isNew && !arePrepared(match);
  const notice = setTimeout(() => isSilent || mine !== state.visit || say(isWaiting ? PREPARING : "One moment…"), QUICK);
  try {
    await askAndTake(match, { beside, isNew, isOther, isRead, advance }, mine).finally(() => clearTimeout(notice));
  } catch (/** @type {any} */ error) {
    failure = error;
    if (mine === state.visit) {
      fail(error);
      say(whatToDo(state.answer));
      if (state.match !== null && checked("person") === state.match.person) {
        players.keepSelected(state.match);
      }
    }
  }
  if (mine === state.visit) {
    Object.assign(state, { isBusy: false, isTakingOver: false, foreseen: null });
    state.render();
    askForMore();
    prepareEarly();
    propose();
  }
  return failure;
}

/** @type {(match: Match, options: {beside: State["beside"] | undefined, isNew: boolean, isOther: boolean, isRead: boolean, advance: boolean}, mine: number) => Promise<void>} */
async function askAndTake(match, { beside, isNew, isOther, isRead, advance }, mine) {
  const before = state.answer;
  /** @type {number | null} */
  let first = null;
  // A match is shown from the rules alone, then its players are asked.
  let isShownOnly = isNew && !arePrepared(match);
  for (let isSolving = false; ; isSolving = true) {
    const isAsked = advance && !isShownOnly;
    /** @type {MatchRequest["show"]} */
    const show = isRead ? ["view", "record"] : ["view"];
    const standIn = isAsked && (await isLate(match));
    if (mine !== state.visit) {
      return;
    }
    const { match: answer, record } = await answered({ ...match, show, advance: isAsked, stand_in: standIn }, mine);
    if (mine !== state.visit) {
      return;
    }
    if (isAsked && !standIn && !address.areTwoPeople(match.person)) {
      notePrepared(match);
    }
    const shared = sharedPlies(match, answer);
    // Of a match that is opened, only the last move is described.
    first ??= shared ?? (match.moves === "" ? 0 : Math.max(0, answer.plies.length - 1));
    const hasEnded = shared !== null && !before?.is_over && answer.is_over && !answer.is_practice;
    if (isOther) {
      keepInHistory();
      isOther = false;
    }
    await shown(match, answer, isRead ? record : null, beside);
    isRead = false;
    if (mine !== state.visit) {
      return;
    }
    if (hasEnded && count() && answer.seats.some((one) => one?.learns)) {
      answer.standing = (await answered({ ...opened().match, learn: true }, mine)).match.standing;
    }
    if (answer.is_over || answer.count || answer.awaits_person || !advance || address.areWatching(answer.people)) {
      break;
    }
    // A perfect opponent does not act before it has solved the position.
    say(isShownOnly ? PREPARING : isThinking(answer, answer.to_move ?? 0, isSolving));
    match = opened().match;
    isShownOnly = false;
  }
  say(aboutVariation() + whatHappened(opened().answer, first));
  sayBroken();
}

// Says where a text that was read breaks off, once.
function sayBroken() {
  const { record } = state;
  if (record?.broken) {
    fail(new Error(`The match breaks off after ${record.plies} ${record.plies === 1 ? "move" : "moves"}. ${capital(record.broken)}.`));
    record.broken = null;
  }
}

/** @type {(match: Match, answer: MatchView, record: RecordView | null, beside: State["beside"] | undefined) => Promise<void>} */
async function shown(match, answer, record, beside) {
  const mine = state.visit;
  take(match, answer, record, beside);
  forgetLeft(answer);
  keepInAddress();
  await look();
  if (mine === state.visit) {
    state.render();
  }
}

// The answer about a match, as soon as the server gives one.
/** @type {(request: MatchRequest, mine: number) => ReturnType<typeof answerTo>} */
async function answered(request, mine) {
  for (;;) {
    try {
      const answer = await answerTo(request);
      fail(null);
      return answer;
    } catch (/** @type {any} */ error) {
      if (error.status !== 0 || mine !== state.visit) {
        throw error;
      }
      fail(error);
      say("Waiting for the server…");
      await pause(WAIT);
    }
  }
}

// ---------------------------------------------------------------------- what a person does

// A match of a game with the players and the handicap that are chosen.
/** @type {(game: string) => Match} */
export const newMatch = (game) => ({ game, seed: address.newSeed(), moves: "", position: chosenStart(), is_practice: false, stood_in: [], dead: null, ended: null, ...players.chosenSettings() });

// A new match with the players that are chosen.
/** @type {(given?: Partial<Match>, options?: Options) => Promise<Failure>} */
export const begin = (given = {}, options = {}) =>
  become({ ...newMatch(opened().game.name), position: null, ...given }, { isNew: true, ...options });

// Another match in the place of the present one.
/** @type {(given: Partial<Match>, options?: Options) => Promise<Failure> | null} */
export const replace = (given, options = {}) => (state.isBusy || state.game === null ? null : begin(given, { isOther: true, ...options }));

/** @type {(action: number) => Promise<Failure>} */
export function play(action) {
  const { game, match, answer } = opened();
  const { text = "", name = "" } = answer.legal.find((one) => one.action === action) ?? {};
  if (answer.person_seat !== null) {
    const isThen = arePrepared(match) ? isThinking(answer, 1 - answer.person_seat) : PREPARING;
    say(`You play ${name}.${game.may_move_again ? "" : ` ${isThen}`}`);
  }
  return become({ ...match, moves: `${match.moves} ${text}` }, { foreseen: foreseen(game, answer, action) });
}

// The match before a ply. What follows the end of a match is practice. match: with these players.
/** @type {(ply: number, options?: Options, match?: Match) => Promise<Failure>} */
export function playOnFrom(ply, options = {}, match = opened().match) {
  const { answer } = opened();
  const isPractice = match.position === null && (match.is_practice || answer.is_over);
  return become({ ...match, moves: movesBefore(answer, ply), is_practice: isPractice, dead: null, ended: null }, options);
}

// Ends the match, after both have passed, with the stones that are marked as dead.
export const agree = () => become({ ...opened().match, dead: opened().answer.count?.dead ?? [] });

// Takes the two passes back.
export const resume = () => playOnFrom(opened().answer.plies.length - 2);

// Ends the match before its rules do.
/** @type {(ended: Match["ended"]) => Promise<Failure>} */
export const end = (ended) => become({ ...opened().match, ended }, { advance: false });

export function undo() {
  const { plies, is_over: isOver } = opened().answer;
  if (opened().match.ended !== null) {
    return playOnFrom(plies.length, { isOther: true });
  }
  const ply = plies.findLastIndex((one) => one.by_person && !one.is_forced);
  // The end of a match stays within reach of the browser's back button.
  return playOnFrom(ply, { isOther: isOver });
}

// The next match, in the other seat if this is chosen.
export function next() {
  const { match } = matchItself();
  const person = address.isOnePerson(match.person) && address.isOnePerson(checked("person")) ? checked("person") : match.person;
  return become({ ...match, person, seed: address.newSeed(), moves: "", position: chosenStart(), is_practice: false, stood_in: [], dead: null, ended: null }, { isNew: true, isOther: true });
}

// The next match, in the other seat.
export function rematch() {
  if (!state.isBusy) {
    check("person", opened().match.person === "first" ? "second" : "first");
    next();
  }
}

// Lets the players that are chosen go on with the match.
export function takeOver() {
  state.isTakingOver = true;
  return become({ ...opened().match, ...players.chosenPlayers() });
}

// ---------------------------------------------------------------------- players who are watched

export function step() {
  const { match, answer, isBusy } = opened();
  return state.match !== null && !isBusy && !answer.is_over ? become(match, { advance: true }) : null;
}

export async function run() {
  const mine = state.visit;
  const goesOn = () => state.isRunning && mine === state.visit && address.areWatching(state.match?.person) && !state.answer?.is_over;
  state.isRunning = !state.isRunning;
  state.render();
  while (goesOn() && at("error").hidden) {
    await step();
    await pause(PAUSE);
  }
  if (mine === state.visit) {
    state.isRunning = false;
    state.render();
    askForMore();
  }
}
