// Choosing who plays: the opponent, the player to watch it against, and the proof whether the opponent can lose.

import { areWatching } from "./address.js";
import * as api from "./api.js";
import { Chooser } from "./chooser.js";
import { at, check, checked, element, printed, radios } from "./drawing.js";

const SEATS = ["first", "second"];

let changed = () => {};
export const opponent = new Chooser("opponent", "", () => changed());
const partner = new Chooser("partner", "partner-", () => changed());
at("adviser").addEventListener("change", () => changed());
at("strengths").addEventListener("change", (/** @type {any} */ event) => {
  opponent.select(event.target.value);
  changed();
});

// handler: called when another opponent, partner or adviser is chosen.
/** @type {(handler: () => void) => void} */
export const whenChanged = (handler) => void (changed = handler);

// Cancels the current request for a proof. The server drops a proof that no request waits for.
let proofRequest = new AbortController();

export const areKnown = () => opponent.opponents.length > 0;

/** @type {(offer: Pick<OpponentsView, "opponents" | "notes"> & Partial<OpponentsView>) => void} */
export function showOffer(offer) {
  clearProof("");
  updateOffer(offer, offer.default);
  const estimating = offer.opponents.filter((one) => one.estimates && (one.group === null || one.is_default));
  const choices = [{ id: "", label: "the players themselves" }, ...estimating];
  at("adviser").replaceChildren(...choices.map(({ id, label }) => element("option", { value: id }, label)));
  const strengths = Object.entries(offer.strengths ?? {});
  at("strengths").replaceChildren(...strengths.map(([word, id]) =>
    element("label", {}, element("input", { type: "radio", name: "strength", value: id }), element("span", {}, word))));
  // A game without strengths has other opponents only.
  at("strength-box").hidden = strengths.length === 0;
  at("opponents").open ||= offer.opponents.length > 0 && strengths.length === 0;
  showStrength();
}

// Shows opponents that have appeared since, such as new levels, and keeps those that are chosen, unless one is named.
/** @type {(offer: Pick<OpponentsView, "opponents" | "notes"> & Partial<OpponentsView>, id?: string | null) => void} */
export function updateOffer(offer, id = null) {
  at("notes").replaceChildren(...offer.notes.map((note) => element("li", {}, note)));
  for (const chooser of [opponent, partner]) {
    chooser.show(offer.opponents, id ?? chooser.chosen?.id ?? offer.default);
  }
}

export function showPartner() {
  at("partner-box").hidden = !areWatching(checked("person"));
}

// Selects the players of a match, or of one that is to be brought back.
/** @type {(match: {opponent: string, person?: string, partner?: string | null, adviser?: string | null}) => void} */
export function select({ person, ...chosen }) {
  keepSelected(chosen);
  check("person", person);
  showPartner();
}

// Selects the opponents of the match again, if the chosen ones could not take over.
/** @type {(chosen: {opponent: string, partner?: string | null, adviser?: string | null}) => void} */
export function keepSelected({ opponent: opponentId, partner: partnerId, adviser }) {
  opponent.select(opponentId);
  at("adviser").value = adviser ?? "";
  showStrength();
  partner.select(partnerId ?? opponentId);
}

// Checks the word for the strength of the chosen opponent, if there is one.
export function showStrength() {
  radios("strength").forEach((radio) => (radio.checked = radio.value === opponent.chosen?.id));
}

// The players that are chosen, as fields of a match. There is no partner if people play.
export const chosenPlayers = () => ({
  opponent: opponent.chosen.id,
  partner: areWatching(checked("person")) ? partner.chosen.id : null,
  adviser: at("adviser").value || null,
});

// The same with the seats of people.
export const chosenSettings = () => ({ ...chosenPlayers(), person: checked("person") });

// ---------------------------------------------------------------------- proofs

/** @type {(text: string) => void} */
function clearProof(text) {
  proofRequest.abort();
  at("proof").hidden = false;
  at("proof").className = "proof";
  at("proof").textContent = text;
}

// Called when another opponent is chosen. Its proof is requested when it plays.
export const announceProof = () => clearProof("Trying every line…");

/** @type {(game: GameView) => Promise<void>} */
export async function showProof(game) {
  announceProof();
  const { signal } = (proofRequest = new AbortController());
  const unknown = (/** @type {Error} */ { message }) => ({ is_unbeatable: null, unbeatable_seats: null, text: message });
  const proof = await api.proof(game.name, opponent.chosen.id, signal).catch(unknown);
  if (!signal.aborted) {
    showResult(proof);
  }
}

/** @type {(proof: ProofView) => void} */
function showResult({ is_unbeatable: isUnbeatable, unbeatable_seats: seats, text }) {
  const isHalf = !isUnbeatable && seats?.length === 1;
  const badge = isUnbeatable ? "Proved unbeatable. " : isHalf ? `Cannot lose moving ${SEATS[seats[0]]}. ` : "";
  at("proof").classList.add(isUnbeatable ? "sure" : isHalf ? "half" : isUnbeatable === null ? "open" : "beatable");
  // An exported page proves nothing.
  at("proof").hidden = text === "";
  at("proof").replaceChildren(...(badge ? [element("strong", {}, badge)] : []), printed(text));
}
