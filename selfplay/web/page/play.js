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

export async function open(chosen) {
  visit += 1;
  const mine = visit;
  leave();
  game = chosen;
  [match, perfect, hint, isBusy] = [null, null, null, false];
  at("title").textContent = game.title;
  at("aim").textContent = game.aim;
  say("One moment…");
  fail(null);
  board = new (game.rows === null ? Buttons : Board)(at("board"), game, act);
  try {
    const offer = await api.opponents(game.name);
    if (mine !== visit) {
      return;
    }
    opponents = offer.opponents;
    at("notes").replaceChildren(...offer.notes.map((note) => element("li", {}, note)));
    fillOpponents();
    await begin();
  } catch (error) {
    fail(error);
  }
}

export function leave() {
  if (match !== null) {
    api.leave(match.id);
    match = null;
  }
}

// ---------------------------------------------------------------------- choosing the opponent

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
  const one = chosenOpponent();
  at("number-label").textContent = one.label;
  at("number").setAttribute("aria-valuetext", one.label);
  at("about").textContent = one.about;
}

function chosenOpponent() {
  const choices = numbered();
  return choices.length > 0 ? choices[Number(at("number").value)] : opponents.find((one) => one.id === at("opponent").value);
}

async function changeOpponent() {
  if (match === null && !isBusy) {
    begin();
    return;
  }
  if (match === null || isBusy) {
    // The search at work has to come to its end first.
    setTimeout(() => match !== null && chosenOpponent().id !== match.opponent.id && changeOpponent(), 100);
    return;
  }
  await during(() => api.takeOver(match.id, chosenOpponent().id));
  showProof();
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
  await during(() => api.begin(game.name, chosenOpponent().id, checked("person")));
  showProof();
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
  if (match === null) {
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

async function giveHint() {
  if (match === null || isBusy || !match.awaits_person) {
    return;
  }
  try {
    hint = await api.hint(match.id);
    show();
    say(`${hint.source} would play ${hint.text} here (value ${hint.value.toFixed(2)}).`);
  } catch (error) {
    say(error.message);
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
    await take(await change(), mine);
    while (mine === visit && !match.is_over && !match.awaits_person) {
      say(`${match.opponent.label} is thinking…`);
      await take(await api.reply(match.id), mine);
    }
    if (mine === visit) {
      say(whatHappened(plies));
    }
  } catch (error) {
    if (mine === visit) {
      await recover(error);
    }
  } finally {
    if (mine === visit) {
      isBusy = false;
      show();
    }
  }
}

async function take(answer, mine) {
  if (mine !== visit) {
    return;
  }
  match = answer;
  [perfect, hint] = [null, null];
  await fetchPerfect();
  show();
}

async function fetchPerfect() {
  if (checked("values") === "perfect" && match.awaits_person) {
    const { values } = await api.perfect(match.id);
    perfect = values && new Map(match.legal.map((legal, number) => [legal.action, values[number]]));
  }
}

async function recover(error) {
  fail(error);
  if (error.status === 404 && match !== null) {
    // The match was left alone for too long.
    match = null;
    match = await api.begin(game.name, chosenOpponent().id, checked("person")).catch(() => null);
    say(match === null ? "No match is open." : "Here is a new match.");
  } else if (match === null) {
    say("No match is open. Choose another opponent, or press New match.");
  } else {
    // The server may have gone on, and only its answer was lost.
    match = await api.look(match.id).catch(() => match);
    say(match.is_over ? match.result : match.awaits_person ? "Your turn." : "Undo, or begin a new match.");
  }
}

// ---------------------------------------------------------------------- what is shown

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
  if (match === null) {
    return;
  }
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
  at("board").classList.toggle("waiting", isBusy);
  document.body.dataset.busy = String(isBusy);
  document.body.dataset.plies = String(match.plies.length);
  showCounts();
  showWords(values, mode);
  at("undo").disabled = isBusy || !match.can_undo;
  at("hint").disabled = isBusy || !match.awaits_person;
  at("new").disabled = isBusy;
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
  at("values-about").textContent = values.size > 0 ? `${whose}.` : nothing;
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
    if (match !== null) {
      await fetchPerfect().catch(fail);
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
window.addEventListener("pageshow", (event) => event.persisted && open(game));
window.addEventListener("resize", show);
