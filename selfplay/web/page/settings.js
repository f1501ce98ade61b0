// The effects of the settings. A change during a request takes effect when the request has finished.

import { isOnePerson, savedOf } from "./address.js";
import * as api from "./api.js";
import { at, checked, radios } from "./drawing.js";
import { act, begin, nextMatch, replace } from "./play.js";
import * as players from "./players.js";
import { request } from "./requests.js";
import { askForMore, review } from "./review.js";
import { isShown, keepInAddress, keepValues, show, table } from "./table.js";
import { fail, say, whatToDo } from "./words.js";

// Whether another opponent or other people were chosen while a request was running, and the action chosen while an opponent
// takes over.
let [isChangeWanted, areOthersWanted, isTakingOver, wantedAction] = [false, false, false, null];

// Called when another game is opened.
export const forget = () => ([isChangeWanted, areOthersWanted, isTakingOver, wantedAction] = [false, false, false, null]);

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

function changePeople() {
  const [person, { match }] = [checked("person"), table];
  players.showPartner();
  areOthersWanted = table.isBusy;
  if (match === null || table.isBusy) {
    return;
  }
  if (person === match.people) {
    say(whatToDo(match));
    return;
  }
  if (!isSwap(match)) {
    // The match continues.
    replace({ ...savedOf(match), partner: null, ...players.chosenSettings() });
  } else if (match.is_over || !match.plies.some((ply) => ply.by_person)) {
    nextMatch();
  } else {
    // Not during a match, which would be abandoned.
    say(`You move ${person} from the next match on; New match begins it now.`);
  }
}

// Whether the one person who plays is to change seats.
const isSwap = (match) => isOnePerson(checked("person")) && isOnePerson(match.people);

async function changeValues() {
  const asked = table.match;
  table.lesson = null;
  keepValues(asked?.is_over ?? false);
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
    return;
  }
  const { match } = table;
  // The result of a match stays on the board until the person begins the next one.
  if (areOthersWanted && at("error").hidden && match !== null && !(isSwap(match) && match.is_over)) {
    changePeople();
  }
  areOthersWanted = false;
  if (!table.isBusy) {
    askForMore();
  }
}

radios("person").forEach((radio) => radio.addEventListener("change", changePeople));
radios("values").forEach((radio) => radio.addEventListener("change", changeValues));
