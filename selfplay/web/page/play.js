// The view for playing: opening a game, and what its buttons and settings do.

import * as address from "./address.js";
import * as api from "./api.js";
import { Board } from "./board.js";
import { Buttons } from "./buttons.js";
import { at, checked } from "./drawing.js";
import * as left from "./left.js";
import * as lesson from "./lesson.js";
import { listen } from "./listeners.js";
import { isOnePerson, TWO_PEOPLE } from "./people.js";
import "./picture.js";
import * as players from "./players.js";
import { newMatch, request, whenFree } from "./requests.js";
import { Setup } from "./setup.js";
import { listenToShare } from "./share.js";
import { askForMore, giveHint, goTo, playOn } from "./stepping.js";
import { isShown, keepInAddress, keepInHistory, perfect, review, savedAddress, show, table } from "./table.js";
import { run, step } from "./watching.js";
import { fail, say } from "./words.js";

export { savedAddress };

// Whether another opponent was chosen while a request was running, and the action chosen while one takes over.
let isChangeWanted = false;
let isTakingOver = false;
let wantedAction = null;

// What is said if a game is not open after so many milliseconds.
const [PATIENCE, COMPILING] = [2000, "Still loading. The rules of a game and its opponents are compiled once on each computer…"];

const setup = new Setup(beginAt, (isOpen) => {
  table.isEdited = isOpen;
  show();
});

// saved, shown: the match to bring back and how it is shown, from the address; null: a new one. complaint: about the address.
export async function open(game, saved, shown = null, complaint = null) {
  table.visit += 1;
  const mine = table.visit;
  left.note(table.game, table.match);
  leave();
  [isChangeWanted, isTakingOver, wantedAction] = [false, false, null];
  // No match can begin before the opponents are known.
  Object.assign(table, { game, hint: null, isRunning: false, isBusy: true, lesson: null });
  at("title").textContent = game.title;
  at("aim").textContent = game.aim;
  say("One moment…");
  setTimeout(() => mine === table.visit && table.isBusy && table.match === null && say(COMPILING), PATIENCE);
  fail(null);
  table.board = new (game.rows === null ? Buttons : Board)(at("board"), game, act, (square) => setup.turn(square));
  setup.open(game, table.board, () => (table.match === null ? null : review.position(table.match)));
  players.showOffer({ opponents: [], notes: [] });
  show();
  try {
    const offer = await api.opponents(game.name);
    if (mine === table.visit) {
      players.showOffer(offer);
      if (saved !== null) {
        players.select(saved);
        players.showValues(shown.values);
      }
      await begin(saved);
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

export function leave() {
  if (table.match !== null) {
    api.leave(table.match.id);
    table.match = null;
    perfect.clear();
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

async function begin(saved = null) {
  const mine = table.visit;
  await request(() => newMatch(mine, saved));
  if (mine === table.visit) {
    players.showProof(table.game);
  }
}

// Begins a match in the place of the present one, which can be returned to.
async function replace(saved) {
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

// Begins a match in a position that was set up, for two people, so that the values of both sides are shown.
async function beginAt(position) {
  await replace({ opponent: players.opponent.chosen.id, person: TWO_PEOPLE, position });
  if (at("error").hidden) {
    players.select(address.savedOf(table.match));
    setup.cancel();
  }
}

function act(action) {
  if (table.lesson !== null) {
    lesson.attempt(action);
  } else if (table.isBusy) {
    wantedAction = isTakingOver ? action : null;
  } else if (table.match !== null) {
    request(() => api.act(table.match.id, action, table.match.plies.length));
  }
}

function nextMatch() {
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
    left.note(game, match);
    keepInHistory();
    review.clear();
    request(() => api.next(match.id, isOnePerson(checked("person")) ? checked("person") : undefined));
  }
}

function undo() {
  if (!table.isBusy && table.match?.can_undo) {
    request(() => api.undo(table.match.id));
  }
}

// ---------------------------------------------------------------------- settings

async function changeOpponent() {
  players.showStrength();
  players.announceProof();
  // The running request has to finish first.
  isChangeWanted = table.isBusy;
  if (table.isBusy) {
    return;
  }
  if (table.match === null) {
    await begin();
    return;
  }
  const mine = table.visit;
  const chosen = players.chosenPlayers();
  const { opponent, partner, evaluator } = address.savedOf(table.match);
  if (chosen.opponent !== opponent || (chosen.partner ?? null) !== partner || chosen.evaluator !== evaluator) {
    isTakingOver = true;
    await request(async () => {
      const answer = await api.takeOver(table.match.id, chosen);
      review.clear();
      return answer;
    });
  }
  if (mine === table.visit) {
    players.showProof(table.game);
  }
}

function changePeople() {
  const [person, { match }] = [checked("person"), table];
  players.showPartner();
  // The running request has to finish first; then it calls this again.
  if (match === null || table.isBusy || person === match.people) {
    return;
  }
  if (!isOnePerson(person) || !isOnePerson(match.people)) {
    // The match continues.
    replace({ ...address.savedOf(match), partner: null, ...players.chosenSettings() });
  } else if (match.is_over || !match.plies.some((ply) => ply.by_person)) {
    // Not during a match, which would be abandoned.
    nextMatch();
  }
}

async function changeValues() {
  // A running request shows the values when it finishes.
  const asked = table.match;
  table.lesson = null;
  keepInAddress();
  if (asked !== null && !table.isBusy) {
    await perfect.fetch(asked, review.ply).catch((error) => isShown(asked) && fail(error));
    show();
    askForMore();
  }
}

whenFree.call = () => {
  isTakingOver = false;
  if (isChangeWanted) {
    changeOpponent();
  }
  if (table.isBusy) {
    return;
  }
  const action = wantedAction;
  wantedAction = null;
  if (at("error").hidden && table.match?.legal.some((one) => one.action === action)) {
    act(action);
  } else if (table.match !== null && checked("person") !== table.match.people && at("error").hidden && !isOnePerson(checked("person"))) {
    changePeople();
  } else {
    askForMore();
  }
};

const chosenBy = (chooser) => () => {
  chooser.showEntry();
  changeOpponent();
};

listen({
  next: nextMatch,
  undo,
  hint: giveHint,
  step,
  run,
  goTo: (to) => table.lesson === null && goTo(to),
  playOn,
  returnTo: left.returnTo,
  opponent: chosenBy(players.opponent),
  slide: () => players.opponent.showChosen(),
  level: changeOpponent,
  partner: chosenBy(players.partner),
  slidePartner: () => players.partner.showChosen(),
  partnerLevel: changeOpponent,
  person: changePeople,
  values: changeValues,
});
at("evaluator").addEventListener("change", changeOpponent);
at("strengths").addEventListener("change", (event) => {
  players.opponent.select(event.target.value);
  changeOpponent();
});
listenToShare(
  () => table.match,
  (moves) => replace({ ...players.chosenSettings(), moves }),
);
// On wide windows there is room for the moves.
at("plies-box").open = matchMedia("(min-width: 76rem)").matches;
window.addEventListener("pagehide", leave);

function reopen() {
  const { saved, shown } = address.read(location.hash);
  open(table.game, saved, shown);
}

window.addEventListener("pageshow", (event) => event.persisted && table.game !== null && reopen());
window.addEventListener("resize", show);
