// What the settings do. A change during a request takes effect when the request has finished.

import { isOnePerson, savedOf } from "./address.js";
import * as api from "./api.js";
import { at, checked, radios } from "./drawing.js";
import { act, begin, nextMatch, replace } from "./play.js";
import * as players from "./players.js";
import { request } from "./requests.js";
import { askForMore, review } from "./review.js";
import { isShown, keepInAddress, show, table } from "./table.js";
import { fail } from "./words.js";

// Whether another opponent was chosen while a request was running, and the action chosen while one takes over.
let [isChangeWanted, isTakingOver, wantedAction] = [false, false, null];

// Called when another game is opened.
export const forget = () => ([isChangeWanted, isTakingOver, wantedAction] = [false, false, null]);

// Called when the person chooses an action during a request.
export const keep = (action) => (wantedAction = isTakingOver ? action : null);

export async function changeOpponent() {
  players.showStrength();
  players.announceProof();
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
  const { opponent, partner, evaluator } = savedOf(table.match);
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

// Whether the match has other people than those chosen, and can change: one person cannot change seats in the middle of it.
function hasOtherPeople(match) {
  const isSwap = isOnePerson(checked("person")) && isOnePerson(match.people);
  return checked("person") !== match.people && !(isSwap && match.plies.some((ply) => ply.by_person));
}

function changePeople() {
  const { match } = table;
  players.showPartner();
  if (match === null || table.isBusy || checked("person") === match.people || !(match.is_over || hasOtherPeople(match))) {
    return;
  }
  if (isOnePerson(checked("person")) && isOnePerson(match.people)) {
    nextMatch();
  } else {
    // The match continues.
    replace({ ...savedOf(match), partner: null, ...players.chosenSettings() });
  }
}

async function changeValues() {
  const asked = table.match;
  table.lesson = null;
  keepInAddress();
  if (asked !== null && !table.isBusy) {
    await review.look(asked).catch((error) => isShown(asked) && fail(error));
    show();
    askForMore();
  }
}

// Called when no request is running any more.
export function whenFree() {
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
  } else if (table.match !== null && hasOtherPeople(table.match) && at("error").hidden) {
    changePeople();
  } else {
    askForMore();
  }
}

radios("person").forEach((radio) => radio.addEventListener("change", changePeople));
radios("values").forEach((radio) => radio.addEventListener("change", changeValues));
