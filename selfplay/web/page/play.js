// The view in which one plays.

import * as api from "./api.js";
import { Board } from "./board.js";
import { Buttons } from "./buttons.js";
import { listen, showControls } from "./controls.js";
import { at, checked } from "./drawing.js";
import { showMatch } from "./match_view.js";
import { announceProof, areKnown, chosenOpponent, showOffer, showProof, showSlider, showWhoPlays } from "./opponents.js";
import { fail, say, whatHappened, whatIsLeft } from "./words.js";

let game = null;
let board = null;
let match = null;
let perfect = null;
let hint = null;
let isBusy = false;
// Answers that come after the person has gone on to another game are of no interest.
let visit = 0;
// Whether another opponent was chosen while the match was at work.
let isChangeWanted = false;

export async function open(chosen) {
  visit += 1;
  const mine = visit;
  leave();
  game = chosen;
  [perfect, hint, isChangeWanted] = [null, null, false];
  // No match can begin before it is known who there is to play against.
  isBusy = true;
  at("title").textContent = game.title;
  at("aim").textContent = game.aim;
  say("One moment…");
  fail(null);
  board = new (game.rows === null ? Buttons : Board)(at("board"), game, act);
  showOffer({ opponents: [], notes: [] });
  show();
  try {
    const offer = await api.opponents(game.name);
    if (mine === visit) {
      showOffer(offer);
      await begin();
    }
  } catch (error) {
    if (mine === visit) {
      isBusy = false;
      show();
      fail(error);
      say("The game could not be opened. New match tries again.");
    }
  }
}

export function leave() {
  if (match !== null) {
    api.leave(match.id);
    match = null;
  }
}

// ---------------------------------------------------------------------- the match

async function begin() {
  const mine = visit;
  await during(() => newMatch(mine));
  if (mine === visit) {
    showProof(game);
  }
}

async function newMatch(mine) {
  const begun = await api.begin(game.name, chosenOpponent().id, checked("person"));
  if (mine !== visit) {
    // Nobody would ever leave it, and the server holds only so many.
    api.leave(begun.id);
  }
  return begun;
}

async function changeOpponent() {
  announceProof();
  // What is at work has to come to its end first.
  isChangeWanted = isBusy;
  if (isBusy) {
    return;
  }
  if (match === null) {
    await begin();
    return;
  }
  const mine = visit;
  if (chosenOpponent().id !== match.opponent.id) {
    await during(() => api.takeOver(match.id, chosenOpponent().id));
  }
  if (mine === visit) {
    showProof(game);
  }
}

function act(action) {
  if (match !== null && !isBusy) {
    during(() => api.act(match.id, action, match.plies.length));
  }
}

function nextMatch() {
  if (isBusy) {
    return;
  }
  if (game === null) {
    location.reload();
  } else if (!areKnown()) {
    open(game);
  } else if (match === null) {
    begin();
  } else {
    during(() => api.next(match.id, checked("person")));
  }
}

function undo() {
  if (match !== null && !isBusy && match.can_undo) {
    during(() => api.undo(match.id));
  }
}

// Whether a match is still what is shown: every answer of the server makes another one of it.
const isShown = (asked) => asked === match && !isBusy;

async function giveHint() {
  if (match === null || isBusy || !match.awaits_person) {
    return;
  }
  const asked = match;
  try {
    const given = await api.hint(asked.id);
    if (isShown(asked)) {
      hint = given;
      show();
      say(`${hint.source} would play ${hint.text} here (value ${hint.value.toFixed(2)}).`);
    }
  } catch (error) {
    if (isShown(asked)) {
      say(error.message);
    }
  }
}

// Do one thing to the match, show it, and let the opponent reply.
async function during(change) {
  const mine = visit;
  const plies = match === null ? 0 : match.plies.length;
  isBusy = true;
  document.body.dataset.busy = "true";
  fail(null);
  try {
    await goOn(change, plies, mine);
  } catch (error) {
    if (mine === visit) {
      await recover(error, plies, mine);
    }
  }
  if (mine === visit) {
    isBusy = false;
    show();
    if (isChangeWanted) {
      changeOpponent();
    }
  }
}

async function goOn(change, plies, mine) {
  await take(await change(), mine);
  while (mine === visit && !match.is_over && !match.awaits_person) {
    say(`${match.opponent.label} is thinking…`);
    await take(await api.reply(match.id), mine);
  }
  if (mine === visit) {
    say(whatHappened(match, plies));
  }
}

async function take(answer, mine) {
  if (mine !== visit) {
    return;
  }
  match = answer;
  [perfect, hint] = [null, null];
  await fetchPerfect();
  if (mine === visit) {
    show();
  }
}

async function fetchPerfect() {
  const asked = match;
  if (checked("values") === "perfect" && asked.awaits_person) {
    const { values } = await api.perfect(asked.id);
    if (asked === match) {
      perfect = values && new Map(asked.legal.map((legal, number) => [legal.action, values[number]]));
    }
  }
}

// The server may have gone on, and only its answer was lost; or it has not, and says why.
async function recover(error, plies, mine) {
  fail(error);
  if (match === null) {
    say(whatIsLeft(match));
    return;
  }
  try {
    await goOn(() => api.look(match.id), plies, mine);
    if (mine === visit && error.status === 0) {
      fail(null);
    }
  } catch (again) {
    if (mine === visit) {
      await (again.status === 404 ? beginAnew(mine) : say(whatIsLeft(match)));
    }
  }
  if (mine === visit && match !== null && !isChangeWanted) {
    showWhoPlays(match.opponent);
  }
}

// The match was left alone for too long.
async function beginAnew(mine) {
  match = null;
  try {
    await goOn(() => newMatch(mine), 0, mine);
  } catch {
    // What is left says enough: the first error is still shown.
  }
  if (mine === visit) {
    say(match === null || match.plies.length > 0 ? whatIsLeft(match) : "Here is a new match.");
  }
}

// ---------------------------------------------------------------------- what is shown

function show() {
  document.body.dataset.busy = String(isBusy);
  at("board").classList.toggle("waiting", isBusy);
  showControls(match, isBusy);
  if (match !== null) {
    showMatch({ game, board, match, perfect, hint, isBusy });
  }
}

// ---------------------------------------------------------------------- what the person touches

function changeSeat() {
  // Nothing of the person's would be lost.
  if (match !== null && !isBusy && (match.is_over || !match.plies.some((ply) => ply.by_person))) {
    nextMatch();
  }
}

async function changeValues() {
  // Who is at work shows the values of what comes of it.
  if (match !== null && !isBusy) {
    const asked = match;
    await fetchPerfect().catch((error) => isShown(asked) && fail(error));
    show();
  }
}

listen({
  next: nextMatch,
  undo,
  hint: giveHint,
  opponent: () => {
    showSlider(true);
    changeOpponent();
  },
  slide: () => showSlider(false),
  level: changeOpponent,
  person: changeSeat,
  values: changeValues,
});
window.addEventListener("pagehide", leave);
window.addEventListener("pageshow", (event) => event.persisted && game !== null && open(game));
window.addEventListener("resize", show);
