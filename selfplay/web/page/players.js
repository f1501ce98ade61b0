// Choosing who plays: the opponent, the player to watch it against, and the proof whether the opponent can lose.

import * as api from "./api.js";
import { Chooser } from "./chooser.js";
import { at, check, checked, element, printed } from "./drawing.js";
import { areWatching } from "./people.js";

const SEATS = ["first", "second"];

export const opponent = new Chooser({ list: "opponent", slider: "slider", number: "number", label: "number-label", about: "about" });
export const partner = new Chooser({
  list: "partner",
  slider: "partner-slider",
  number: "partner-number",
  label: "partner-number-label",
  about: "partner-about",
});

// Cancels the current request for a proof. The server drops a proof that no request waits for.
let proofRequest = new AbortController();

export const areKnown = () => opponent.opponents.length > 0;

export function showOffer(offer) {
  at("notes").replaceChildren(...offer.notes.map((note) => element("li", {}, note)));
  clearProof("");
  opponent.show(offer.opponents, offer.default);
  partner.show(offer.opponents, offer.default);
  const estimating = offer.opponents.filter((one) => one.estimates && (one.group === null || one.is_default));
  const choices = [["", "the players themselves"], ...estimating.map(({ id, label }) => [id, label])];
  at("evaluator").replaceChildren(...choices.map(([value, label]) => element("option", { value }, label)));
  at("strengths").replaceChildren(...Object.entries(offer.strengths ?? {}).map(([word, id]) =>
    element("label", {}, element("input", { type: "radio", name: "strength", value: id }), element("span", {}, word))));
  showStrength();
  enablePerfect(offer.has_perfect_play);
}

// Shows opponents that have appeared since, such as new levels, and keeps those that are chosen.
export function updateOffer(offer) {
  at("notes").replaceChildren(...offer.notes.map((note) => element("li", {}, note)));
  for (const chooser of [opponent, partner]) {
    chooser.show(offer.opponents, chooser.chosen?.id ?? offer.default);
  }
}

function enablePerfect(isKnown) {
  document.querySelector("input[name=values][value=perfect]").disabled = !isKnown;
  if (!isKnown && checked("values") === "perfect") {
    check("values", "adviser");
  }
}

// Selects the values on the board that an address names, if there are such.
export function showValues(mode) {
  const radio = document.querySelector(`input[name=values][value="${CSS.escape(mode ?? "adviser")}"]:enabled`);
  if (radio !== null) {
    radio.checked = true;
  }
}

export function showPartner() {
  at("partner-box").hidden = !areWatching(checked("person"));
}

// Selects the players of a match, or of one that is to be brought back.
export function select({ person, ...chosen }) {
  keepSelected(chosen);
  check("person", person);
  showPartner();
}

// Checks the word for the strength of the chosen opponent, if there is one.
export function showStrength() {
  document.querySelectorAll("input[name=strength]").forEach((radio) => {
    radio.checked = radio.value === opponent.chosen?.id;
  });
}

// The players that are chosen, as fields of a request. The partner is left out if people play.
export function chosenPlayers() {
  const first = areWatching(checked("person")) ? { partner: partner.chosen.id } : {};
  return { opponent: opponent.chosen.id, evaluator: at("evaluator").value || null, ...first };
}

// The same with the seats of people: a request for a new match.
export const chosenSettings = () => ({ ...chosenPlayers(), person: checked("person") });

// Selects the opponents of the match again, if others could not take over.
export function keepSelected({ opponent: opponentId, partner: partnerId, evaluator }) {
  opponent.select(opponentId);
  at("evaluator").value = evaluator ?? "";
  showStrength();
  partner.select(partnerId ?? opponentId);
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
    proof = await api.proof(game.name, opponent.chosen.id, request.signal);
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
