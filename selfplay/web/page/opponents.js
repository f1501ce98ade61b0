// Choosing the opponent: the list, and the proof whether the chosen opponent can lose.

import * as api from "./api.js";
import { at, checked, element, printed } from "./drawing.js";
import { labelSlider, moveSlider, showSlider, sliderPlace } from "./level_slider.js";

const SEATS = ["first", "second"];

let opponents = [];
// Cancels the current request for a proof. The server drops a proof that no request waits for.
let proofRequest = new AbortController();

export const areKnown = () => opponents.length > 0;

export function showOffer(offer) {
  opponents = offer.opponents;
  at("notes").replaceChildren(...offer.notes.map((note) => element("li", {}, note)));
  clearProof("");
  showOpponents();
  enablePerfect(offer.has_perfect_play);
}

// A group of numbered opponents is one entry of the list; a slider chooses among them.
const entryOf = (opponent) => opponent.group ?? opponent.id;

function showOpponents() {
  const entries = new Map(opponents.map((one) => [entryOf(one), one.group ?? one.label]));
  at("opponent").replaceChildren(...[...entries].map(([value, label]) => element("option", { value }, label)));
  showEntry();
}

function enablePerfect(isKnown) {
  document.querySelector("input[name=values][value=perfect]").disabled = !isKnown;
  if (!isKnown && checked("values") === "perfect") {
    document.querySelector("input[name=values][value=adviser]").checked = true;
  }
}

const numbered = () => opponents.filter((one) => one.group !== null && one.group === at("opponent").value);

// After another entry of the list was chosen.
export function showEntry() {
  const choices = numbered();
  showSlider(choices);
  moveSlider(choices.findIndex((one) => one.is_default));
  showChosen();
}

// After the slider was moved.
export function showChosen() {
  const { label, about } = chosenOpponent() ?? { label: "", about: "" };
  labelSlider(label);
  at("about").textContent = about;
}

// Selects the opponent of the match again, if another one could not take over.
export function selectOpponent(playing) {
  const one = opponents.find(({ id }) => id === playing.id);
  if (one !== undefined) {
    at("opponent").value = entryOf(one);
    showEntry();
    moveSlider(numbered().indexOf(one));
    showChosen();
  }
}

export function chosenOpponent() {
  const choices = numbered();
  return choices.length > 0 ? choices[sliderPlace()] : opponents.find((one) => one.id === at("opponent").value);
}

// ---------------------------------------------------------------------- proofs

function clearProof(text) {
  proofRequest.abort();
  at("proof").className = "proof";
  at("proof").textContent = text;
}

// Called when another opponent is chosen. Its proof is requested when it plays.
export const announceProof = () => clearProof("Trying every line…");

export async function showProof(game) {
  announceProof();
  const request = new AbortController();
  proofRequest = request;
  let proof = null;
  try {
    proof = await api.proof(game.name, chosenOpponent().id, request.signal);
  } catch (error) {
    proof = { is_unbeatable: null, unbeatable_seats: null, text: error.message };
  }
  if (!request.signal.aborted) {
    showResult(proof);
  }
}

function showResult({ is_unbeatable: isUnbeatable, unbeatable_seats: seats, text }) {
  const isHalf = !isUnbeatable && seats?.length === 1;
  const badge = isUnbeatable ? "Proved unbeatable. " : isHalf ? `Cannot lose moving ${SEATS[seats[0]]}. ` : "";
  at("proof").classList.add(isUnbeatable ? "sure" : isHalf ? "half" : isUnbeatable === null ? "open" : "beatable");
  at("proof").replaceChildren(...(badge ? [element("strong", {}, badge)] : []), printed(text));
}
