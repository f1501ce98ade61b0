// The view for playing: opening a game, what a click on the board does (see act), buttons and keys.

import * as actions from "./actions.js";
import * as address from "./address.js";
import * as api from "./api.js";
import { Board } from "./board.js";
import { Buttons } from "./buttons.js";
import { canEnd, canHint, canUndo } from "./controls.js";
import { isAccepted, isCounting, turn } from "./counting.js";
import { at, clicked } from "./drawing.js";
import { hasBoard } from "./geometry.js";
import { whyIllegal } from "./illegal.js";
import * as exercise from "./exercise.js";
import * as options from "./options.js";
import { showMatch } from "./match_view.js";
import * as players from "./players.js";
import { ask, goTo } from "./review.js";
import "./settings.js";
import * as setup from "./setup.js";
import * as variation from "./variation.js";
import { say as sayShared, showMovesText } from "./share.js";
import { bringValues, clear, cursor, isShown, isVariation, keepInAddress, matchItself, noteLeft, opened, position, returnToLeft, savedAddress, state } from "./state.js";
import { aboutHint, aboutLine, fail, nameOf, say } from "./words.js";

export { savedAddress };

// After this number of milliseconds the page says that a game is still loading, or that it looks for a hint.
const [PATIENCE, COMPILING] = [2000, "Still loading. A game's rules are compiled once on each computer…"];
const QUICK = 300;

state.render = () => {
  showMovesText();
  showMatch(goTo, variation.goToIn);
};

// saved, shown: the match to open and how it is shown, from the address; null: a new one. complaint: about the address.
/** @type {(game: GameView, saved: any, shown?: ShownAs | null, complaint?: string | null) => Promise<void>} */
export async function open(game, saved, shown = null, complaint = null) {
  state.visit += 1;
  const mine = state.visit;
  noteLeft();
  clear();
  // No match can begin before the opponents are known.
  const face = shown?.isAnalysed ? "analyse" : "play";
  Object.assign(state, { game, face, hint: null, isRunning: false, isBusy: true, isTakingOver: false, exercise: null, line: null });
  at("title").textContent = game.title;
  say("One moment…");
  setTimeout(() => mine === state.visit && state.isBusy && state.match === null && say(COMPILING), PATIENCE);
  fail(null);
  state.board = hasBoard(game) ? new Board(at("board"), game, act, setup.turn, refuse) : new Buttons(at("board"), game, act);
  ["--rows", "--columns"].forEach((size) => at("play").style.setProperty(size, at("board").style.getPropertyValue(size)));
  players.showOffer({ opponents: [], notes: [] });
  setup.open(game);
  options.show(game);
  at("territory").parentElement.hidden = !game.has_territory;
  try {
    const offer = await api.opponents(game.name);
    if (mine === state.visit) {
      players.showOffer(offer);
      const match = saved && { ...saved, opponent: saved.opponent ?? offer.default };
      if (match !== null) {
        players.select(match);
        bringValues(shown?.values ?? null);
        at("territory").checked = shown?.hasTerritory === true;
      }
      await beginAndProve(match ?? {});
      if (mine === state.visit && state.match !== null && shown?.variation) {
        await variation.bring(shown.variation, shown.isInVariation);
      }
      if (mine === state.visit && typeof shown?.ply === "number" && Number.isInteger(shown.ply)) {
        await goTo(shown.ply);
      }
      if (mine === state.visit && complaint !== null) {
        fail(new Error(complaint));
      }
    }
  } catch (error) {
    if (mine === state.visit) {
      state.isBusy = false;
      state.render();
      fail(error);
      say("The game could not be loaded. Press New match to try again.");
    }
  }
}

/** @type {(match?: Partial<Match>) => Promise<void>} */
async function beginAndProve(match = {}) {
  const mine = state.visit;
  await actions.begin(match, { isRead: Boolean(match.moves) });
  if (mine === state.visit) {
    options.showHandicap(state.match?.position ?? null);
    players.showProof(opened().game);
  }
}

// After a visit to another view: there may be new levels.
export async function refresh() {
  const mine = state.visit;
  keepInAddress();
  const offer = await api.opponents(opened().game.name).catch(() => null);
  if (offer !== null && mine === state.visit && !state.isBusy) {
    players.updateOffer(offer);
  }
}

// Called when the person chooses an action on the board; one that is chosen while an opponent takes over is played afterwards.
/** @type {(action: number) => Promise<void>} */
async function act(action) {
  if (state.exercise !== null) {
    exercise.attempt(action);
    return;
  }
  if (state.isTakingOver) {
    wanted = action;
    if (!(await actions.whenFree()) || wanted !== action || !at("error").hidden || !opened().answer.legal.some((one) => one.action === action)) {
      return;
    }
    wanted = null;
  }
  if (state.match !== null && !state.isBusy && isConfirmed(action)) {
    state.ply === null ? actions.play(action) : variation.vary(action);
  }
}

// Whether an action needs no confirmation, or is chosen for the second time; says what to confirm.
/** @type {(action: number) => boolean} */
function isConfirmed(action) {
  const { warning, name } = position().legal.find((one) => one.action === action) ?? {};
  if (!warning || state.unconfirmed === action) {
    return true;
  }
  state.unconfirmed = action;
  say(`${warning} Choose ${name} again to confirm.`);
  return false;
}

// Called when a click on the board does nothing.
/** @type {(square: number, chosen: number | null) => void} */
const refuse = (square, chosen) => (isCounting() ? turn(square) : say(whyIllegal(square, chosen)));

// The action chosen last while an opponent takes over.
/** @type {number | null} */
let wanted = null;

function newMatch() {
  if (state.isRunning) {
    actions.run();
  }
  if (state.isBusy) {
    return;
  }
  if (state.game === null) {
    location.reload();
  } else if (!players.areKnown()) {
    open(state.game, null);
  } else if (options.chosenGame() !== state.game.name) {
    location.hash = address.write(actions.newMatch(options.chosenGame()));
  } else if (state.match === null) {
    beginAndProve();
  } else {
    actions.next();
  }
}

async function giveHint() {
  const { answer: asked, ply } = opened();
  if (!canHint()) {
    return;
  }
  const isStill = () => isShown(asked) && state.ply === ply;
  const notice = setTimeout(() => isStill() && say("Looking for a hint…"), QUICK);
  try {
    const { hint } = await ask({ ply: cursor(), show: ["hint"] });
    if (isStill()) {
      Object.assign(state, { hint: hint.action, hintLine: hint.line_squares.slice(1) });
      state.render();
      say(aboutHint(asked, hint) + aboutLine(hint));
    }
  } catch (/** @type {any} */ error) {
    if (isStill()) {
      say(error.message);
    }
  } finally {
    clearTimeout(notice);
  }
}

// The second press ends the match.
function resign() {
  if (!canEnd()) {
    return;
  }
  if (state.unconfirmed === "resign") {
    actions.end("resigned");
    return;
  }
  state.unconfirmed = "resign";
  say("Press Resign again to give up this match.");
}

// Two people agree themselves; an opponent accepts unless the judge sees it ahead.
async function offerDraw() {
  const { answer: asked } = opened();
  if (!canEnd()) {
    return;
  }
  if (asked.person_seat === null) {
    actions.end("drawn");
    return;
  }
  const name = nameOf(asked, 1 - asked.person_seat);
  say(`You offer a draw. ${name} considers it…`);
  try {
    const { hint } = await ask({ show: ["hint"] });
    if (isShown(asked)) {
      const even = hint.words !== null || hint.in_points ? 0 : asked.judge.neutral;
      await (hint.value >= even ? actions.end("drawn") : say(`${name} declines: it stands better. Your turn.`));
    }
  } catch (/** @type {any} */ error) {
    if (isShown(asked)) {
      say(error.message);
    }
  }
}

// ---------------------------------------------------------------------- buttons and keys

/** @type {GoTo} */
const stepTo = (to) => (state.exercise === null ? goTo(to) : exercise.stepTo(to));
const back = () => stepTo((ply) => ply - 1);
const forward = () => stepTo((ply) => ply + 1);
const undo = () => canUndo() && (isVariation() ? variation.undo() : actions.undo());

// Shows the match in the text field, for two people, so that no opponent adds a move to it. If it is of another game, board or
// option that the page has, this is opened.
async function load() {
  const moves = at("moves").value.trim();
  if (moves === "") {
    sayShared("There are no moves to load: paste them, or open a file.");
    return;
  }
  sayShared("");
  const failure = await actions.replace({ moves, person: "both", partner: null }, { isRead: true });
  const { game = null } = failure ?? {};
  if (game !== null && (await api.game(game).then(() => true, () => false))) {
    location.hash = `play/${game}?${new URLSearchParams({ moves, ...(state.face === "analyse" ? { analyse: "1" } : {}) })}`;
  } else if (failure === null && state.match !== null) {
    players.select(state.match);
    options.showHandicap(state.match.position);
  }
}

function playOn() {
  if ((state.ply !== null || isVariation()) && !state.isBusy) {
    state.face = "play";
    const { match } = matchItself();
    actions.playOnFrom(cursor(), { isOther: true, beside: null }, { ...match, is_practice: isVariation() || match.is_practice });
  }
}

const agree = () => isAccepted() && actions.agree();
const resume = () => isCounting() && !state.isBusy && actions.resume();

const buttons = { agree, resume, new: newMatch, undo, hint: giveHint, resign, draw: offerDraw, rematch: actions.rematch, step: actions.step, run: actions.run, back, forward };
Object.entries(buttons).forEach(([id, handler]) => clicked(id, handler));
clicked("to-start", () => stepTo(0));
clicked("to-end", () => stepTo(Infinity));
clicked("play-on", playOn);
clicked("to-match", variation.toMatch);
clicked("close-variation", variation.close);
clicked("return", returnToLeft);
clicked("load", load);
clicked("open-file", () => at("file").click());
at("file").addEventListener("change", async () => {
  const [file] = at("file").files;
  at("moves").value = await file.text();
  at("file").value = "";
  await (at("moves").value.trim() === "" ? sayShared("The file holds no match.") : load());
});

document.addEventListener("keydown", (/** @type {any} */ event) => {
  const isTyping = event.target.matches("select, textarea, input:not([type=radio], [type=range])");
  if (isTyping || event.ctrlKey || event.altKey || event.metaKey || at("play").hidden) {
    return;
  }
  // The arrows move radio buttons, sliders and scrolled tables.
  const arrows = event.target.matches("input, summary") ? {} : { ArrowLeft: back, ArrowRight: forward };
  // In games whose actions are columns, the numbers above them.
  /** @type {any[]} */
  const heads = state.board?.heads ?? [];
  const columns = heads.map((_, column) => [column + 1, () => state.board.click(column)]);
  const others = state.board?.others?.key ? { [state.board.others.key]: () => state.board.others.click() } : {};
  /** @type {Record<string, () => unknown>} */
  const handlers = { ...others, u: undo, h: giveHint, n: newMatch, ",": back, ".": forward, ...arrows, ...Object.fromEntries(columns) };
  const handler = handlers[event.key];
  if (handler !== undefined) {
    event.preventDefault();
    handler();
  }
});

window.addEventListener("pageshow", ({ persisted }) => {
  const { saved, shown } = address.read(location.hash);
  if (persisted && state.game !== null) {
    open(state.game, saved, shown);
  }
});
window.addEventListener("resize", () => state.render());
