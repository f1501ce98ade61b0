// Players are loaded and compiled when they are first asked, which can take long: the page asks for it early, says how far it is,
// and meanwhile lets a simple opponent move.

import { areTwoPeople, isOnePerson } from "./address.js";
import * as api from "./api.js";
import { at } from "./drawing.js";
import { answerTo } from "./review.js";
import { state } from "./state.js";
import { aboutPreparation } from "./words.js";

// Milliseconds for which a move waits for the opponent, and between two questions how far it is.
const [PATIENCE, INTERVAL] = [1500, 1000];

/** @type {(match: Match) => string} */
const playersOf = ({ game, opponent, partner }) => [game, opponent, partner].join(" ");

// Who has answered.
/** @type {Set<string>} */
const prepared = new Set();
// Whether no player has to be prepared for a match.
/** @type {(match: Match) => boolean} */
export const arePrepared = (match) => areTwoPeople(match.person) || prepared.has(playersOf(match));
/** @type {(match: Match) => void} */
export const notePrepared = (match) => void prepared.add(playersOf(match));

/** @type {Map<string, Promise<void>>} */
const running = new Map();

// Lets the server prepare the players of a match, once for all who wait for it; rejects if they cannot play.
/** @type {(match: Match) => Promise<void>} */
export function prepare(match) {
  const players = playersOf(match);
  const asked = running.get(players) ?? askFor(match).finally(() => running.delete(players));
  running.set(players, asked);
  return asked;
}

/** @type {(match: Match) => Promise<void>} */
async function askFor(match) {
  const start = Date.now();
  const timer = setInterval(() => showProgress(match, (Date.now() - start) / 1000), INTERVAL);
  try {
    // A match in which the person moves first: nobody else moves.
    await answerTo({ ...match, person: "first", moves: "", position: null, dead: null, ended: null, stood_in: [], advance: true });
    notePrepared(match);
  } finally {
    clearInterval(timer);
    at("preparing").hidden = true;
  }
}

/** @type {(match: Match, seconds: number) => Promise<void>} */
async function showProgress(match, seconds) {
  const progress = await api.preparation(match.game, match.opponent).catch(() => null);
  const { answer } = state;
  const isWaiting = running.has(playersOf(match)) && state.match !== null && playersOf(state.match) === playersOf(match);
  at("preparing").hidden = !isWaiting || progress === null || answer === null;
  if (progress !== null && answer !== null) {
    at("preparing").textContent = aboutPreparation(answer.opponent.label, progress, seconds);
  }
}

// Waits some time for the players of a match; whether a simple opponent has to move in their place.
/** @type {(match: Match) => Promise<boolean>} */
export function isLate(match) {
  if (arePrepared(match) || !isOnePerson(match.person)) {
    return Promise.resolve(false);
  }
  const isReady = () => false;
  /** @type {Promise<boolean>} */
  const late = new Promise((done) => setTimeout(() => done(true), PATIENCE));
  // If it cannot play, the move gets the message.
  return Promise.race([prepare(match).then(isReady, isReady), late]);
}
