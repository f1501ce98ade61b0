// Who plays against the person: the list, its slider, and what is proved of the one who is chosen.

import * as api from "./api.js";
import { at, checked, element, printed } from "./drawing.js";

// Kinds of which the slider chooses one.
const NUMBERED = { level: "Levels of the run", search: "Search" };
const SEATS = ["first", "second"];

let opponents = [];
// Lets go of the proof that is asked for: the server drops one that nobody waits for.
let proofAsked = new AbortController();

export const areKnown = () => opponents.length > 0;

export function showOffer(offer) {
  opponents = offer.opponents;
  at("notes").replaceChildren(...offer.notes.map((note) => element("li", {}, note)));
  dropProof("");
  fillOpponents();
}

function fillOpponents() {
  const select = at("opponent");
  const groups = new Map();
  for (const one of opponents) {
    groups.set(one.kind in NUMBERED ? one.kind : one.id, NUMBERED[one.kind] ?? one.label);
  }
  // The run's own levels come first, and who answers well without a run comes next.
  const rank = (key) => ["level", "search"].indexOf(key) >>> 0;
  const keys = [...groups.keys()].sort((a, b) => rank(a) - rank(b));
  select.replaceChildren(...keys.map((key) => element("option", { value: key }, groups.get(key))));
  const hasPerfect = opponents.some((one) => one.kind === "perfect");
  document.querySelector("input[name=values][value=perfect]").disabled = !hasPerfect;
  if (!hasPerfect && checked("values") === "perfect") {
    document.querySelector("input[name=values][value=adviser]").checked = true;
  }
  showSlider(true);
}

function numbered() {
  const kind = at("opponent").value;
  return kind in NUMBERED ? opponents.filter((one) => one.kind === kind) : [];
}

export function showSlider(isNew) {
  const choices = numbered();
  at("slider").hidden = choices.length === 0;
  if (choices.length > 0 && isNew) {
    Object.assign(at("number"), { min: 0, max: choices.length - 1 });
    // The newest level, or a search that answers at once.
    at("number").value = choices[0].kind === "level" ? choices.length - 1 : Math.min(3, choices.length - 1);
  }
  const { label, about } = chosenOpponent() ?? { label: "", about: "" };
  at("number-label").textContent = label;
  at("number").setAttribute("aria-valuetext", label);
  at("about").textContent = about;
}

// Back to who does play, after another one could not take over.
export function showWhoPlays(playing) {
  const one = opponents.find(({ id }) => id === playing.id);
  if (one !== undefined) {
    at("opponent").value = one.kind in NUMBERED ? one.kind : one.id;
    showSlider(true);
    at("number").value = numbered().indexOf(one);
    showSlider(false);
  }
}

export function chosenOpponent() {
  const choices = numbered();
  return choices.length > 0 ? choices[Number(at("number").value)] : opponents.find((one) => one.id === at("opponent").value);
}

// ---------------------------------------------------------------------- what is proved

function dropProof(text) {
  proofAsked.abort();
  at("proof").className = "proof";
  at("proof").textContent = text;
}

// The proof of the opponent before is of no interest any more; the next one is asked for once it plays.
export const announceProof = () => dropProof("Trying every line…");

export async function showProof(game) {
  announceProof();
  const asked = new AbortController();
  proofAsked = asked;
  let found = null;
  try {
    found = await api.proof(game.name, chosenOpponent().id, asked.signal);
  } catch (error) {
    found = { is_unbeatable: null, unbeatable_seats: null, text: error.message };
  }
  if (!asked.signal.aborted) {
    showFound(found);
  }
}

function showFound({ is_unbeatable: isUnbeatable, unbeatable_seats: seats, text }) {
  const isHalf = !isUnbeatable && seats?.length === 1;
  const badge = isUnbeatable ? "Proved unbeatable. " : isHalf ? `Cannot lose moving ${SEATS[seats[0]]}. ` : "";
  at("proof").classList.add(isUnbeatable ? "sure" : isHalf ? "half" : isUnbeatable === null ? "open" : "beatable");
  at("proof").replaceChildren(...(badge ? [element("strong", {}, badge)] : []), printed(text));
}
