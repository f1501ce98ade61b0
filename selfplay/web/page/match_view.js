// Shows a match: its board, counts, values and moves.

import { drawCurve } from "./curve.js";
import { at, checked, element, valueText } from "./drawing.js";
import { curveSource, valuesAbout } from "./words.js";

const PERFECT_SCALE = { neutral: 0, span: 1 };

// shown: {game, board, match, perfect, hint, isBusy}
export function showMatch({ game, board, match, perfect, hint, isBusy }) {
  const mode = checked("values");
  const values = new Map();
  if (mode === "perfect" && perfect !== null) {
    perfect.forEach((value, action) => values.set(action, value));
  } else if (mode === "adviser") {
    match.legal.filter((a) => a.value !== null).forEach((a) => values.set(a.action, a.value));
  }
  const scale = mode === "perfect" ? PERFECT_SCALE : match.opponent;
  // Also while the opponent thinks, because otherwise the page would shift with every reply.
  const areExact = mode === "adviser" && (match.values_are_points || match.plies.some((ply) => ply.value_is_points));
  const isOpen = match.awaits_person && !isBusy;
  board.show({ match, values, scale, isOpen, hint: hint?.square ?? null, hintAction: hint?.action ?? null });
  document.body.dataset.plies = String(match.plies.length);
  showCounts(game, match, areExact);
  at("values-about").textContent = valuesAbout(match, mode, values.size > 0, areExact);
  at("standing").textContent = (match.is_practice ? "Practice: the first result of this match counts. " : "") + (match.standing ?? "");
  drawCurve(at("curve"), match);
  at("curve-source").textContent = curveSource(match);
  showPlies(match);
}

function showCounts(game, match, areExact) {
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
    const exact = areExact ? [element("span", { id: "exact", class: "quiet" }, "exact, in discs")] : [];
    at("counts").replaceChildren(...sides, ...exact);
  }
}

function showPlies(match) {
  const rows = match.plies.map((ply, number) => {
    const who = ply.seat === match.person_seat ? "you" : "it";
    const value = ply.value === null ? "" : valueText(ply.value, match.opponent) + (ply.value_is_points ? " discs" : "");
    const cells = [String(number + 1), `${match.seat_names[ply.seat]} (${who})`, ply.text, value];
    return element("tr", {}, ...cells.map((text) => element("td", {}, text)));
  });
  const head = element("tr", {}, ...["", "player", "move", "value to the mover"].map((text) => element("th", { scope: "col" }, text)));
  at("plies").replaceChildren(element("thead", {}, head), element("tbody", {}, ...rows));
}
