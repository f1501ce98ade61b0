// The effects of the settings. A change during a request takes effect when the request has finished.

import { begin, next, replace, takeOver, whenFree } from "./actions.js";
import { isOnePerson } from "./address.js";
import { at, checked, radios } from "./drawing.js";
import * as players from "./players.js";
import { askForMore, look } from "./review.js";
import { isShown, keepInAddress, keepValues, opened, state } from "./state.js";
import { fail, say, whatToDo } from "./words.js";

export async function changeOpponent() {
  players.showStrength();
  players.announceProof();
  if (!(await whenFree())) {
    return;
  }
  const mine = state.visit;
  const chosen = players.chosenPlayers();
  if (state.match === null) {
    await begin();
  } else if (Object.entries(chosen).some(([name, value]) => opened().match[name] !== value)) {
    await takeOver();
  }
  if (mine === state.visit) {
    players.showProof(state.game);
  }
}

async function changePeople() {
  players.showPartner();
  const wasBusy = state.isBusy;
  const isSame = await whenFree();
  const [person, { match, answer }] = [checked("person"), opened()];
  // The result of a match stays on the board until the person begins the next one.
  if (!isSame || state.match === null || (wasBusy && (!at("error").hidden || (isSwap() && answer.is_over)))) {
    return;
  }
  if (person === match.person) {
    say(whatToDo(answer));
  } else if (!isSwap()) {
    // The match continues.
    await replace({ ...match, ...players.chosenSettings() });
  } else if (answer.is_over || !answer.plies.some((ply) => ply.by_person)) {
    await next();
  } else {
    // Not during a match, which would be abandoned.
    say(`You move ${person} from the next match on; New match begins it now.`);
  }
}

// Whether the one person who plays is to change seats.
const isSwap = () => isOnePerson(checked("person")) && isOnePerson(opened().match.person);

async function changeValues() {
  const asked = state.answer;
  state.lesson = null;
  keepValues(asked?.is_over ?? false);
  keepInAddress();
  if (asked !== null && !state.isBusy) {
    await look().catch((error) => isShown(asked) && fail(error));
    state.render();
    askForMore();
  }
}

players.whenChanged(changeOpponent);
radios("person").forEach((radio) => radio.addEventListener("change", changePeople));
radios("values").forEach((radio) => radio.addEventListener("change", changeValues));
