// Shows a match: its board, counts, values and moves.

import { drawCurve, drawLosses } from "./curve.js";
import { at, checked, element } from "./drawing.js";
import { showMoves, withExactValues } from "./moves.js";
import { valuesToShow } from "./values.js";
import { curveSource, valuesAbout, whoIs } from "./words.js";

// shown: {game, board, match, position, cursor, judged, perfect, hint, isBusy, lesson, choose}, where position is the match as
// it was at the cursor, which counts the plies before it.
export function showMatch(shown) {
  const { game, board, match, position, cursor, judged, perfect, hint, isBusy, lesson, choose } = shown;
  // In a lesson the values would be the solution.
  const mode = lesson === null ? checked("values") : !lesson.isSolved ? "none" : lesson.isExact ? "perfect" : "adviser";
  const { scale, ...known } = valuesToShow(mode, position, perfect);
  const isLast = cursor === match.plies.length;
  // Also while the opponent thinks, because otherwise the page would shift with every reply.
  const arePoints = mode === "adviser" && (position.values_are_points || position.plies.some((ply) => ply.value_is_points));
  const isOpen = lesson === null ? isLast && match.awaits_person && !isBusy : !isLast && !lesson.isSolved;
  board.show({ match: position, ...known, scale, isOpen, hint: hint?.square ?? null, hintAction: hint?.action ?? null });
  document.body.dataset.plies = String(match.plies.length);
  showCounts(game, position, arePoints);
  at("values-about").textContent = valuesAbout(position, mode, { ...known, scale, perfect, arePoints, isChoice: isOpen || !isLast });
  at("legend").hidden = mode !== "perfect" && !scale.isExact && known.results.size === 0;
  at("standing").textContent = (match.is_practice ? "Practice: this match does not count. " : "") + (match.standing ?? "");
  at("score").textContent = match.score ?? "";
  const valued = withExactValues(match, judged);
  drawCurve(at("curve"), { game, match: valued, cursor, choose });
  drawLosses(at("discs-lost"), { game, match: valued });
  at("opening").textContent = match.opening === null ? "" : `— ${match.opening} opening`;
  at("curve-source").textContent = curveSource(valued);
  showMoves(at("plies"), { game, match: valued, cursor, choose });
}

function showCounts(game, match, arePoints) {
  at("counts").hidden = match.counts === null;
  if (match.counts !== null) {
    const sides = match.counts.map((count, seat) => {
      const colour = game.stone_colours?.[seat] ?? "";
      const side = element("span", { class: match.to_move === seat ? "side turn" : "side" });
      side.append(element("span", { class: `disc small ${colour}`, "aria-hidden": "true" }));
      side.append(element("b", {}, String(count)), ` ${match.seat_names[seat]} (${whoIs(match, seat)})`);
      return side;
    });
    const exact = arePoints ? [element("span", { id: "exact", class: "quiet" }, "exact, in discs")] : [];
    at("counts").replaceChildren(...sides, ...exact);
  }
}
