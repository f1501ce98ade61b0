// The effects of the settings. A change during a request takes effect when the request has finished.

import { begin, next, replace, takeOver, whenFree } from "./actions.js";
import { isOnePerson } from "./address.js";
import { at, checked, clicked, radios } from "./drawing.js";
import * as players from "./players.js";
import { askForMore, look, stopAsking } from "./review.js";
import { exchange, hasSame, isShown, isVariation, keepInAddress, opened, state } from "./state.js";
import { fail, say, whatToDo } from "./words.js";

async function changeOpponent() {
  players.showStrength();
  players.announceProof();
  if (!(await whenFree())) {
    return;
  }
  const mine = state.visit;
  const chosen = players.chosenPlayers();
  if (state.match === null) {
    await begin();
  } else if (!hasSame(opened().match, chosen, ["opponent", "partner", "adviser"])) {
    await takeOver();
  }
  if (mine === state.visit) {
    players.showProof(opened().game);
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

// Shows the match with other values, or for another purpose; an exercise ends. The numbers on the board stay until others come.
async function showOtherwise() {
  const asked = state.answer;
  Object.assign(state, { exercise: null, line: null });
  keepInAddress();
  if (asked !== null && !state.isBusy) {
    await look().catch((error) => isShown(asked) && fail(error));
    askForMore();
  }
  state.render();
}

/** @type {(face: Face) => Promise<void>} */
async function changeFace(face) {
  if (face !== state.face) {
    if (isVariation() && (await whenFree())) {
      stopAsking();
      exchange();
    }
    // A position that is being set up is left as it was.
    at("setup").open = false;
    Object.assign(state, { face, hint: null, exercise: null, line: null });
    state.render();
    await showOtherwise();
  }
}

/** @type {(event: any) => void} */
function moveBetweenTabs(event) {
  /** @type {Record<string, Face>} */
  const faces = { ArrowLeft: "play", ArrowRight: "analyse", Home: "play", End: "analyse" };
  const face = faces[event.key];
  if (face !== undefined && !event.ctrlKey && !event.altKey && !event.metaKey) {
    event.preventDefault();
    event.stopPropagation();
    changeFace(face);
    at(`tab-${face}`).focus();
  }
}

players.whenChanged(changeOpponent);
radios("person").forEach((radio) => radio.addEventListener("change", changePeople));
radios("values").forEach((radio) => radio.addEventListener("change", showOtherwise));
at("territory").addEventListener("change", showOtherwise);
clicked("tab-play", () => changeFace("play"));
clicked("tab-analyse", () => changeFace("analyse"));
document.querySelector(".tabs")?.addEventListener("keydown", moveBetweenTabs);
