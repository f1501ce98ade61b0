// Shows a match: its board, counts, values and moves.

import { drawCurve } from "./curve.js";
import { at, checked, element, EXACT_SCALE, sharesOfVisits, valueText } from "./drawing.js";
import { curveSource, valuesAbout } from "./words.js";

const RESULT_SCALE = { neutral: 0, span: 1 };

// shown: {game, board, match, perfect, hint, isBusy}
export function showMatch({ game, board, match, perfect, hint, isBusy }) {
  const mode = checked("values");
  const { values, words, scale } = valuesToShow(mode, match, perfect);
  const shares = mode === "adviser" ? sharesOfVisits(match) : new Map();
  // Also while the opponent thinks, because otherwise the page would shift with every reply.
  const arePoints = mode === "adviser" && (match.values_are_points || match.plies.some((ply) => ply.value_is_points));
  const isOpen = match.awaits_person && !isBusy;
  board.show({ match, values, shares, words, scale, isOpen, hint: hint?.square ?? null, hintAction: hint?.action ?? null });
  document.body.dataset.plies = String(match.plies.length);
  showCounts(game, match, arePoints);
  at("values-about").textContent = valuesAbout(match, mode, { values, shares, words, scale, perfect, arePoints });
  at("legend").hidden = mode !== "perfect" && !scale.isExact;
  at("standing").textContent = (match.is_practice ? "Practice: the first result of this match counts. " : "") + (match.standing ?? "");
  drawCurve(at("curve"), match);
  at("curve-source").textContent = curveSource(match);
  showPlies(match);
}

// The values on the board and their words, by action, and their scale.
function valuesToShow(mode, match, perfect) {
  const known = (pairs) => new Map(pairs.filter(([, one]) => one !== null));
  if (mode === "perfect" && perfect !== null) {
    const scale = perfect.kind === "results" ? RESULT_SCALE : EXACT_SCALE;
    return { values: known([...perfect.values]), words: known([...perfect.words]), scale };
  }
  const legal = mode === "adviser" ? match.legal : [];
  const words = known(legal.map((one) => [one.action, one.words]));
  const scale = mode === "perfect" ? RESULT_SCALE : words.size > 0 ? EXACT_SCALE : match.opponent;
  return { values: known(legal.map((one) => [one.action, one.value])), words, scale };
}

function showCounts(game, match, arePoints) {
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
    const exact = arePoints ? [element("span", { id: "exact", class: "quiet" }, "exact, in discs")] : [];
    at("counts").replaceChildren(...sides, ...exact);
  }
}

function showPlies(match) {
  const rows = match.plies.map((ply, number) => {
    const who = ply.seat === match.person_seat ? "you" : "it";
    const scale = ply.words === null ? match.opponent : EXACT_SCALE;
    const unit = ply.value_is_points ? " discs" : ply.words === null ? "" : ` (${ply.words})`;
    const value = ply.value === null ? "" : valueText(ply.value, scale) + unit;
    const cells = [String(number + 1), `${match.seat_names[ply.seat]} (${who})`, ply.text, value];
    return element("tr", {}, ...cells.map((text) => element("td", {}, text)));
  });
  const head = element("tr", {}, ...["", "player", "move", "value to the mover"].map((text) => element("th", { scope: "col" }, text)));
  at("plies").replaceChildren(element("thead", {}, head), element("tbody", {}, ...rows));
}
