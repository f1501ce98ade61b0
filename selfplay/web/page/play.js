// The view for playing: opening a game, and its matches. What a click on the board does: see act.

import * as address from "./address.js";
import * as api from "./api.js";
import { Board, foreseen } from "./board.js";
import { Buttons } from "./buttons.js";
import { at, check, checked, clicked } from "./drawing.js";
import * as lesson from "./lesson.js";
import { canHint, canUndo } from "./match_view.js";
import * as players from "./players.js";
import { newMatch, request } from "./requests.js";
import { askForMore, goTo, review } from "./review.js";
import * as settings from "./settings.js";
import * as setup from "./setup.js";
import { bringValues, isShown, keepInAddress, keepInHistory, noteLeft, returnToLeft, savedAddress, show, table } from "./table.js";
import { aboutHint, aboutLine, fail, isThinking, say } from "./words.js";

export { savedAddress };

// After this number of milliseconds the page says that a game is still loading; also the pause between watched moves.
const [PATIENCE, COMPILING] = [2000, "Still loading. A game's rules are compiled once on each computer…"];
const PAUSE = 700;
// After this number of milliseconds the page says that it looks for a hint.
const QUICK = 300;

// saved, shown: the match to bring back and how it is shown, from the address; null: a new one. complaint: about the address.
export async function open(game, saved, shown = null, complaint = null) {
  table.visit += 1;
  const mine = table.visit;
  noteLeft();
  leave();
  settings.forget();
  // No match can begin before the opponents are known.
  Object.assign(table, { game, hint: null, isRunning: false, isBusy: true, lesson: null });
  at("title").textContent = game.title;
  at("aim").textContent = game.aim;
  say("One moment…");
  setTimeout(() => mine === table.visit && table.isBusy && table.match === null && say(COMPILING), PATIENCE);
  fail(null);
  table.board = new (game.rows === null ? Buttons : Board)(at("board"), game, act, setup.turn);
  players.showOffer({ opponents: [], notes: [] });
  setup.open(game);
  try {
    const offer = await api.opponents(game.name);
    if (mine === table.visit) {
      players.showOffer(offer);
      if (saved !== null) {
        players.select(saved);
        bringValues(shown.values);
      }
      await begin(saved && { ...saved, opponent: saved.opponent ?? offer.default });
      if (mine === table.visit && Number.isInteger(shown?.ply)) {
        await goTo(shown.ply);
      }
      if (mine === table.visit && complaint !== null) {
        fail(new Error(complaint));
      }
    }
  } catch (error) {
    if (mine === table.visit) {
      table.isBusy = false;
      show();
      fail(error);
      say("The game could not be loaded. Press New match to try again.");
    }
  }
}

function leave() {
  if (table.match !== null) {
    api.leave(table.match.id);
    table.match = null;
    review.clear();
  }
}

// After a visit to another view: there may be new levels.
export async function refresh() {
  const mine = table.visit;
  keepInAddress();
  const offer = await api.opponents(table.game.name).catch(() => null);
  if (offer !== null && mine === table.visit && !table.isBusy) {
    players.updateOffer(offer);
  }
}

// ---------------------------------------------------------------------- matches

export async function begin(saved = null) {
  const mine = table.visit;
  await request(() => newMatch(mine, saved));
  if (mine === table.visit) {
    players.showProof(table.game);
  }
}

// Begins a match in the place of the present one, which can be returned to.
export async function replace(saved) {
  if (table.isBusy || table.game === null) {
    return;
  }
  const [earlier, mine] = [table.match, table.visit];
  keepInHistory();
  await request(async () => {
    const begun = await newMatch(mine, saved);
    review.clear();
    return begun;
  });
  if (earlier !== null && mine === table.visit && earlier.id !== table.match.id) {
    api.leave(earlier.id);
  }
}

// Called when the person chooses an action on the board.
export function act(action) {
  if (table.lesson !== null) {
    lesson.attempt(action);
  } else if (table.isBusy) {
    settings.keep(action);
  } else if (table.match !== null) {
    const { game, match } = table;
    const { text } = match.legal.find((one) => one.action === action);
    if (address.isOnePerson(match.people)) {
      say(`You play ${text}. ${isThinking(match, 1 - match.person_seat)}`);
    }
    // The match may be brought back under another id before the action is played.
    request(() => api.act(table.match.id, action, table.match.plies.length), foreseen(game, match, action));
  }
}

export function nextMatch() {
  const { game, match } = table;
  if (table.isRunning) {
    run();
  }
  if (table.isBusy) {
    return;
  }
  if (game === null) {
    location.reload();
  } else if (!players.areKnown()) {
    open(game, null);
  } else if (match === null) {
    begin();
  } else {
    keepInHistory();
    review.clear();
    request(() => api.next(match.id, address.isOnePerson(checked("person")) ? checked("person") : undefined));
  }
}

// The next match, in the other seat.
function swapSeats() {
  if (!table.isBusy) {
    check("person", checked("person") === "first" ? "second" : "first");
    nextMatch();
  }
}

function undo() {
  if (canUndo(table, review)) {
    // The end of a match stays within reach of the browser's back button.
    if (table.match.is_over) {
      keepInHistory();
    }
    request(() => api.undo(table.match.id));
  }
}

function playOn() {
  if (review.ply !== null && !table.isBusy) {
    const { ply } = review;
    keepInHistory();
    request(() => api.rewind(table.match.id, ply));
  }
}

async function giveHint() {
  const { ply } = review;
  const asked = table.match;
  if (!canHint(table, review)) {
    return;
  }
  const isStill = () => isShown(asked) && review.ply === ply;
  const notice = setTimeout(() => isStill() && say("Looking for a hint…"), QUICK);
  try {
    const hint = await api.hint(asked.id, ply ?? asked.plies.length);
    if (isStill()) {
      table.hint = hint;
      show();
      say(aboutHint(asked, hint) + aboutLine(hint));
    }
  } catch (error) {
    if (isStill()) {
      say(error.message);
    }
  } finally {
    clearTimeout(notice);
  }
}

// ---------------------------------------------------------------------- players who are watched

function step() {
  const { match, isBusy } = table;
  return match !== null && !isBusy && !match.is_over ? request(() => api.reply(match.id)) : null;
}

async function run() {
  const mine = table.visit;
  const goesOn = () => table.isRunning && mine === table.visit && address.areWatching(table.match?.people) && !table.match.is_over;
  table.isRunning = !table.isRunning;
  show();
  while (goesOn() && at("error").hidden) {
    await step();
    await new Promise((done) => setTimeout(done, PAUSE));
  }
  if (mine === table.visit) {
    table.isRunning = false;
    show();
    askForMore();
  }
}

// ---------------------------------------------------------------------- buttons and keys

const stepTo = (to) => table.lesson === null && goTo(to);
const back = () => stepTo((cursor) => cursor - 1);
const forward = () => stepTo((cursor) => cursor + 1);

Object.entries({ new: nextMatch, undo, hint: giveHint, swap: swapSeats, step, run, back, forward }).forEach(([id, handler]) => clicked(id, handler));
clicked("to-start", () => stepTo(0));
clicked("to-end", () => stepTo(Infinity));
clicked("play-on", playOn);
clicked("return", returnToLeft);
clicked("load", () => replace({ ...players.chosenSettings(), moves: at("moves").value.trim() }));

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.matches("select, textarea, input:not([type=radio], [type=range])");
  if (isTyping || event.ctrlKey || event.altKey || event.metaKey || at("play").hidden) {
    return;
  }
  // The arrows move radio buttons, sliders and scrolled tables.
  const arrows = event.target.matches("input, .scroll, summary") ? {} : { ArrowLeft: back, ArrowRight: forward };
  // In games whose actions are columns, the numbers above them.
  const columns = (table.board?.heads ?? []).map((_, column) => [column + 1, () => table.board.click(column)]);
  const handler = { u: undo, h: giveHint, n: nextMatch, ",": back, ".": forward, ...arrows, ...Object.fromEntries(columns) }[event.key];
  if (handler !== undefined) {
    event.preventDefault();
    handler();
  }
});

// On wide windows there is room for the moves.
at("plies-box").open = matchMedia("(min-width: 76rem)").matches;
window.addEventListener("pagehide", leave);
window.addEventListener("pageshow", ({ persisted }) => {
  const { saved, shown } = address.read(location.hash);
  if (persisted && table.game !== null) {
    open(table.game, saved, shown);
  }
});
window.addEventListener("resize", show);
