// The view in which one plays.

import * as api from "./api.js";
import { Board, Buttons, element, valueText } from "./board.js";
import { drawCurve } from "./curve.js";

const at = (id) => document.getElementById(id);
const checked = (name) => document.querySelector(`input[name=${name}]:checked`).value;

// Kinds of which the slider chooses one.
const NUMBERED = { level: "Levels of the run", search: "Search" };
const PERFECT_SCALE = { neutral: 0, span: 1 };

let game = null;
let opponents = [];
let board = null;
let match = null;
let perfect = null;
let hint = null;
let isBusy = false;
// Answers that come after the person has gone on to another game are of no interest.
let visit = 0;
// Whether another opponent was chosen while the match was at work.
let isChangeWanted = false;

export async function open(chosen) {
  visit += 1;
  const mine = visit;
  leave();
  game = chosen;
  [perfect, hint, isChangeWanted] = [null, null, false];
  // No match can begin before it is known who there is to play against.
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
      say("The game could not be opened. New match tries again.");
    }
  }
}

export function leave() {
  if (match !== null) {
    api.leave(match.id);
    match = null;
  }
}

// ---------------------------------------------------------------------- choosing the opponent

function showOffer(offer) {
  opponents = offer.opponents;
  at("notes").replaceChildren(...offer.notes.map((note) => element("li", {}, note)));
  at("proof").textContent = "";
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

function showSlider(isNew) {
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
function showWhoPlays() {
  const one = opponents.find(({ id }) => id === match.opponent.id);
  if (one !== undefined) {
    at("opponent").value = one.kind in NUMBERED ? one.kind : one.id;
    showSlider(true);
    at("number").value = numbered().indexOf(one);
    showSlider(false);
  }
}

function chosenOpponent() {
  const choices = numbered();
  return choices.length > 0 ? choices[Number(at("number").value)] : opponents.find((one) => one.id === at("opponent").value);
}

async function changeOpponent() {
  // What is at work has to come to its end first.
  isChangeWanted = isBusy;
  if (isBusy) {
    return;
  }
  if (match === null) {
    await begin();
  } else if (chosenOpponent().id !== match.opponent.id) {
    const mine = visit;
    await during(() => api.takeOver(match.id, chosenOpponent().id));
    if (mine === visit) {
      showProof();
    }
  }
}

async function showProof() {
  const mine = visit;
  const one = chosenOpponent();
  at("proof").className = "proof";
  at("proof").textContent = "Trying every line…";
  let found = null;
  try {
    found = await api.proof(game.name, one.id);
  } catch (error) {
    found = { is_unbeatable: null, text: error.message };
  }
  if (mine !== visit || chosenOpponent().id !== one.id) {
    return;
  }
  at("proof").classList.add(found.is_unbeatable === null ? "open" : found.is_unbeatable ? "sure" : "beatable");
  at("proof").textContent = found.text;
  if (found.is_unbeatable) {
    at("proof").prepend(element("strong", {}, "Proved unbeatable. "));
  }
}

// ---------------------------------------------------------------------- the match

async function begin() {
  const mine = visit;
  await during(() => newMatch(mine));
  if (mine === visit) {
    showProof();
  }
}

async function newMatch(mine) {
  const begun = await api.begin(game.name, chosenOpponent().id, checked("person"));
  if (mine !== visit) {
    // Nobody would ever leave it, and the server holds only so many.
    api.leave(begun.id);
  }
  return begun;
}

function act(action) {
  if (match !== null && !isBusy) {
    during(() => api.act(match.id, action, match.plies.length));
  }
}

function nextMatch() {
  if (isBusy) {
    return;
  }
  if (game === null) {
    location.reload();
  } else if (opponents.length === 0) {
    open(game);
  } else if (match === null) {
    begin();
  } else {
    during(() => api.next(match.id, checked("person")));
  }
}

function undo() {
  if (match !== null && !isBusy && match.can_undo) {
    during(() => api.undo(match.id));
  }
}

// Whether a match is still what is shown: every answer of the server makes another one of it.
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
      say(`${hint.source} would play ${hint.text} here (value ${hint.value.toFixed(2)}).`);
    }
  } catch (error) {
    if (isShown(asked)) {
      say(error.message);
    }
  }
}

// Do one thing to the match, show it, and let the opponent reply.
async function during(change) {
  const mine = visit;
  const plies = match === null ? 0 : match.plies.length;
  isBusy = true;
  document.body.dataset.busy = "true";
  fail(null);
  try {
    await goOn(change, plies, mine);
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

async function goOn(change, plies, mine) {
  await take(await change(), mine);
  while (mine === visit && !match.is_over && !match.awaits_person) {
    say(`${match.opponent.label} is thinking…`);
    await take(await api.reply(match.id), mine);
  }
  if (mine === visit) {
    say(whatHappened(plies));
  }
}

async function take(answer, mine) {
  if (mine !== visit) {
    return;
  }
  match = answer;
  [perfect, hint] = [null, null];
  await fetchPerfect();
  if (mine === visit) {
    show();
  }
}

async function fetchPerfect() {
  const asked = match;
  if (checked("values") === "perfect" && asked.awaits_person) {
    const { values } = await api.perfect(asked.id);
    if (asked === match) {
      perfect = values && new Map(asked.legal.map((legal, number) => [legal.action, values[number]]));
    }
  }
}

// The server may have gone on, and only its answer was lost; or it has not, and says why.
async function recover(error, plies, mine) {
  fail(error);
  if (match === null) {
    say(whatIsLeft());
    return;
  }
  try {
    await goOn(() => api.look(match.id), plies, mine);
    if (mine === visit && error.status === 0) {
      fail(null);
    }
  } catch (again) {
    if (mine === visit) {
      await (again.status === 404 ? beginAnew(mine) : say(whatIsLeft()));
    }
  }
  if (mine === visit && match !== null && !isChangeWanted) {
    showWhoPlays();
  }
}

// The match was left alone for too long.
async function beginAnew(mine) {
  match = null;
  try {
    await goOn(() => newMatch(mine), 0, mine);
  } catch {
    // What is left says enough: the first error is still shown.
  }
  if (mine === visit) {
    say(match === null || match.plies.length > 0 ? whatIsLeft() : "Here is a new match.");
  }
}

// ---------------------------------------------------------------------- what is shown

// What a person can do when something did not go as it should.
function whatIsLeft() {
  if (match === null) {
    return "No match is open. Choose another opponent, or press New match.";
  }
  return match.is_over ? match.result : match.awaits_person ? "Your turn." : "Undo, or begin a new match.";
}

function whatHappened(before) {
  const words = match.plies.slice(Math.min(before, match.plies.length)).flatMap((ply) => {
    const isYours = ply.seat === match.person_seat;
    if (ply.is_forced) {
      return [isYours ? "You can only pass." : `${match.opponent.label} can only pass.`];
    }
    return isYours ? [] : [`${match.opponent.label} plays ${ply.text}${ply.is_random ? " at random" : ""}.`];
  });
  if (match.is_over) {
    words.push(match.result);
  } else {
    words.push(words.length > 0 ? "Your turn." : `Your turn: you are ${match.seat_names[match.person_seat]}.`);
  }
  return words.join(" ");
}

function show() {
  document.body.dataset.busy = String(isBusy);
  at("board").classList.toggle("waiting", isBusy);
  showControls();
  if (match !== null) {
    showMatch();
  }
}

// They stay where they are for the keyboard while they can do nothing.
function showControls() {
  at("new").setAttribute("aria-disabled", String(isBusy));
  at("undo").setAttribute("aria-disabled", String(isBusy || !match?.can_undo));
  at("hint").setAttribute("aria-disabled", String(isBusy || !match?.awaits_person));
}

function showMatch() {
  const mode = checked("values");
  const values = new Map();
  if (mode === "perfect" && perfect !== null) {
    perfect.forEach((value, action) => values.set(action, value));
  } else if (mode === "adviser") {
    match.legal.filter((a) => a.value !== null).forEach((a) => values.set(a.action, a.value));
  }
  const scale = mode === "perfect" ? PERFECT_SCALE : match.opponent;
  const isOpen = match.awaits_person && !isBusy;
  board.show({ match, values, scale, isOpen, hint: hint?.square ?? null, hintAction: hint?.action ?? null });
  document.body.dataset.plies = String(match.plies.length);
  showCounts();
  showWords(values, mode);
  drawCurve(at("curve"), match);
  at("curve-source").textContent = match.plies.some((ply) => ply.value !== null) ? `— as ${match.opponent.label} saw it` : "";
  showPlies();
}

function showCounts() {
  at("counts").hidden = match.counts === null;
  if (match.counts !== null) {
    const sides = match.counts.map((count, seat) => {
      const who = seat === match.person_seat ? "you" : "it";
      const colour = game.stone_colours?.[seat] ?? "";
      const side = element("span", { class: match.to_move === seat ? "side turn" : "side" });
      side.append(element("span", { class: `disc small ${colour}`, "aria-hidden": "true" }));
      side.append(element("b", {}, String(count)), ` ${match.seat_names[seat]} (${who})`);
      return side;
    });
    at("counts").replaceChildren(...sides);
  }
}

function showWords(values, mode) {
  const whose = mode === "perfect" ? "What perfect play gets with each move: +1 won, 0 drawn, −1 lost" : `What ${match.opponent.label} thinks each of your moves is worth to you`;
  const nothing = mode === "none" ? "" : match.awaits_person ? `${match.opponent.label} values nothing.` : "";
  const isTooLarge = document.querySelector("input[name=values][value=perfect]").disabled;
  const missing = isTooLarge ? " Perfect play is not known here: the game is too large." : "";
  at("values-about").textContent = (values.size > 0 ? `${whose}.` : nothing) + missing;
  const practice = match.is_practice ? "Practice: the match counts as it first ended. " : "";
  at("standing").textContent = practice + (match.standing ?? "");
}

function showPlies() {
  const rows = match.plies.map((ply, number) => {
    const who = ply.seat === match.person_seat ? "you" : "it";
    const value = ply.value === null ? "" : valueText(ply.value, match.opponent);
    const cells = [String(number + 1), `${match.seat_names[ply.seat]} (${who})`, ply.text, value];
    return element("tr", {}, ...cells.map((text) => element("td", {}, text)));
  });
  const head = element("tr", {}, ...["", "player", "move", "value to who moved"].map((text) => element("th", { scope: "col" }, text)));
  at("plies").replaceChildren(element("thead", {}, head), element("tbody", {}, ...rows));
}

function say(text) {
  at("status").textContent = text;
}

function fail(error) {
  at("error").hidden = error === null;
  at("error").textContent = error === null ? "" : error.message;
}

// ---------------------------------------------------------------------- what the person touches

at("new").addEventListener("click", nextMatch);
at("undo").addEventListener("click", undo);
at("hint").addEventListener("click", giveHint);
at("opponent").addEventListener("change", () => {
  showSlider(true);
  changeOpponent();
});
at("number").addEventListener("input", () => showSlider(false));
at("number").addEventListener("change", changeOpponent);
for (const radio of document.querySelectorAll("input[name=person]")) {
  radio.addEventListener("change", () => {
    // Nothing of the person's would be lost.
    if (match !== null && !isBusy && (match.is_over || !match.plies.some((ply) => ply.by_person))) {
      nextMatch();
    }
  });
}
for (const radio of document.querySelectorAll("input[name=values]")) {
  radio.addEventListener("change", async () => {
    // Who is at work shows the values of what comes of it.
    if (match !== null && !isBusy) {
      const asked = match;
      await fetchPerfect().catch((error) => isShown(asked) && fail(error));
      show();
    }
  });
}
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.matches("input, select, textarea");
  if (isTyping || event.ctrlKey || event.altKey || event.metaKey || at("play").hidden) {
    return;
  }
  ({ u: undo, h: giveHint, n: nextMatch })[event.key]?.();
});
window.addEventListener("pagehide", leave);
window.addEventListener("pageshow", (event) => event.persisted && game !== null && open(game));
window.addEventListener("resize", show);
