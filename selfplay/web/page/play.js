// The view for playing.

import * as api from "./api.js";
import { Board } from "./board.js";
import { Buttons } from "./buttons.js";
import { listen, showControls } from "./listeners.js";
import { at, checked, sharesOfVisits } from "./drawing.js";
import { showMatch } from "./match_view.js";
import { announceProof, areKnown, chosenOpponent, selectOpponent, showOffer, showChosen, showEntry, showProof } from "./opponents.js";
import { PerfectValues } from "./perfect_values.js";
import { aboutHint, fail, say, whatHappened, whatToDo } from "./words.js";

let game = null;
let board = null;
let match = null;
let hint = null;
let isBusy = false;
// Counts the games opened. An answer that belongs to an earlier one is ignored.
let visit = 0;
// Whether another opponent was chosen while a request was running.
let isChangeWanted = false;

const perfect = new PerfectValues(
  () => checked("values") === "perfect",
  () => show(),
  (error) => !isBusy && fail(error),
);

export async function open(chosen) {
  visit += 1;
  const mine = visit;
  leave();
  game = chosen;
  [hint, isChangeWanted] = [null, false];
  // No match can begin before the opponents are known.
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
      say("The game could not be loaded. Press New match to try again.");
    }
  }
}

export function leave() {
  if (match !== null) {
    api.leave(match.id);
    match = null;
    perfect.clear();
  }
}

// ---------------------------------------------------------------------- the match

async function begin() {
  const mine = visit;
  await request(() => newMatch(mine));
  if (mine === visit) {
    showProof(game);
  }
}

async function newMatch(mine) {
  const begun = await api.begin(game.name, chosenOpponent().id, checked("person"));
  if (mine !== visit) {
    // The match is not shown, and the server has a limit of open matches.
    api.leave(begun.id);
  }
  return begun;
}

async function changeOpponent() {
  announceProof();
  // The running request has to finish first.
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
    await request(() => api.takeOver(match.id, chosenOpponent().id));
  }
  if (mine === visit) {
    showProof(game);
  }
}

function act(action) {
  if (match !== null && !isBusy) {
    request(() => api.act(match.id, action, match.plies.length));
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
    request(() => api.next(match.id, checked("person")));
  }
}

function undo() {
  if (match !== null && !isBusy && match.can_undo) {
    request(() => api.undo(match.id));
  }
}

// Whether the page still shows this answer of the server.
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
      say(aboutHint(hint, sharesOfVisits(asked).get(hint.action)));
    }
  } catch (error) {
    if (isShown(asked)) {
      say(error.message);
    }
  }
}

// Runs a request that changes the match, shows the result, and lets the opponent reply.
async function request(change) {
  const mine = visit;
  const plies = match === null ? 0 : match.plies.length;
  isBusy = true;
  document.body.dataset.busy = "true";
  fail(null);
  try {
    await showAndReply(change, plies, mine);
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

async function showAndReply(change, plies, mine) {
  await take(await change(), mine);
  let isSolving = false;
  while (mine === visit && !match.is_over && !match.awaits_person) {
    say(`${match.opponent.label} is ${isSolving ? "still solving this position" : "thinking"}…`);
    const before = match.plies.length;
    await take(await api.reply(match.id), mine);
    // A perfect opponent does not act before it has solved the position.
    isSolving = mine === visit && match.plies.length === before;
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
  hint = null;
  await perfect.fetch(match);
  if (mine === visit) {
    show();
  }
}

// After an error: either only the answer was lost and the match has changed, or the match has not changed.
async function recover(error, plies, mine) {
  fail(error);
  if (match === null) {
    say(whatToDo(match));
    return;
  }
  try {
    await showAndReply(() => api.look(match.id), plies, mine);
    if (mine === visit && error.status === 0) {
      fail(null);
    }
  } catch (again) {
    if (mine === visit) {
      await (again.status === 404 ? replaceMatch(mine) : say(whatToDo(match)));
    }
  }
  if (mine === visit && match !== null && !isChangeWanted) {
    selectOpponent(match.opponent);
  }
}

// Begins a new match, because the old one has expired.
async function replaceMatch(mine) {
  match = null;
  perfect.clear();
  try {
    await showAndReply(() => newMatch(mine), 0, mine);
  } catch {
    // The first error is still shown.
  }
  if (mine === visit) {
    say(match === null || match.plies.length > 0 ? whatToDo(match) : "This is a new match.");
  }
}

// ---------------------------------------------------------------------- display

function show() {
  document.body.dataset.busy = String(isBusy);
  at("board").classList.toggle("waiting", isBusy);
  showControls(match, isBusy);
  if (match !== null) {
    showMatch({ game, board, match, perfect: perfect.known, hint, isBusy });
  }
}

// ---------------------------------------------------------------------- settings and events

function changeSeat() {
  // Not during a match, which would be abandoned.
  if (match !== null && !isBusy && (match.is_over || !match.plies.some((ply) => ply.by_person))) {
    nextMatch();
  }
}

async function changeValues() {
  // A running request shows the values when it finishes.
  if (match !== null && !isBusy) {
    const asked = match;
    await perfect.fetch(match).catch((error) => isShown(asked) && fail(error));
    show();
  }
}

listen({
  next: nextMatch,
  undo,
  hint: giveHint,
  opponent: () => {
    showEntry();
    changeOpponent();
  },
  slide: showChosen,
  level: changeOpponent,
  person: changeSeat,
  values: changeValues,
});
window.addEventListener("pagehide", leave);
window.addEventListener("pageshow", (event) => event.persisted && game !== null && open(game));
window.addEventListener("resize", show);
