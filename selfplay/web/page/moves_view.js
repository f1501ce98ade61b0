// The moves of a match in two columns, one for each player. The number of a row is that of its first move.

import { element } from "./drawing.js";
import { gradeOf, scaleOfPly, valueText } from "./values.js";
import { capital, nameOf } from "./words.js";

/** @type {Record<string, string>} */
const MARKS = { inaccuracy: "?!", mistake: "?", blunder: "??" };

// cursor: the number of plies before the position that is shown, null if it is elsewhere; first: the first ply in the table, which
// is a variation if it is given; isValued: whether values, marks and better moves are shown; goTo: shows the position after a
// number of plies.
/** @type {(table: any, match: MatchView, options: {cursor: number | null, first?: number | null, isValued: boolean, goTo: GoTo}) => void} */
export function showMoves(table, match, { cursor, first = null, isValued, goTo }) {
  const { activeElement } = document;
  const focused = activeElement instanceof HTMLElement && table.contains(activeElement) ? activeElement.dataset.ply : undefined;
  const rows = numbered(match.plies, first ?? 0).map((pair) => {
    const cells = pair.map((ply) => (ply === null ? element("td", {}) : cellOf(match, ply, { isShown: ply + 1 === cursor, isValued, goTo })));
    return element("tr", {}, element("th", { scope: "row" }, `${(pair[0] ?? pair[1] ?? 0) + 1}.`), ...cells);
  });
  const names = [0, 1].map((seat) => {
    const [name, colour] = [nameOf(match, seat), capital(match.seat_names[seat])];
    return name === colour ? name : `${name} (${colour})`;
  });
  const head = element("tr", {}, ...["move", ...names].map((text) => element("th", { scope: "col" }, text)));
  if (first === null) {
    table.hidden = rows.length === 0;
  }
  const caption = first === null ? [] : [element("caption", {}, `Variation from move ${first + 1}`)];
  const columns = element("colgroup", {}, element("col", { class: "numbers-of-moves" }), element("col"), element("col"));
  table.replaceChildren(...caption, columns, element("thead", { class: "hidden" }, head), element("tbody", {}, ...rows));
  table.querySelector(`[data-ply="${focused}"]`)?.focus({ preventScroll: true });
}

// The numbers of the plies from this one on in rows of two: that of who moves first, and of the other; null where there is none.
/** @type {(plies: PlyDescription[], from: number) => (number | null)[][]} */
function numbered(plies, from) {
  /** @type {(number | null)[][]} */
  const rows = [];
  plies.slice(from).forEach(({ seat }, after) => {
    if (seat === 0 || rows.length === 0 || rows.at(-1)?.[1] !== null) {
      rows.push([null, null]);
    }
    rows[rows.length - 1][seat] = from + after;
  });
  return rows;
}

/** @type {(match: MatchView, ply: number, options: {isShown: boolean, isValued: boolean, goTo: GoTo}) => any} */
function cellOf(match, ply, { isShown, isValued, goTo }) {
  const one = match.plies[ply];
  const attributes = { type: "button", class: "move", "data-ply": ply, "aria-current": isShown ? "step" : null };
  const move = element("button", attributes, one.is_forced ? "pass" : one.name);
  move.addEventListener("click", () => goTo(ply + 1));
  return element("td", { class: isValued ? gradeOf(match, one) : null }, move, ...(isValued ? aboutPly(match, one) : []));
}

// The value of a ply to who moved; if another move was better, its grade and the other move.
/** @type {(match: MatchView, ply: PlyDescription) => any[]} */
function aboutPly(match, ply) {
  if (ply.value === null) {
    return [];
  }
  /** @type {(one: ValuedAction) => string} */
  const text = (one) => one.words ?? valueText(Number(one.value), scaleOfPly(match, ply, one)) + (ply.in_points ? ` ${match.point_name}` : "");
  const grade = gradeOf(match, ply);
  const value = element("span", { class: "worth" }, text(ply));
  if (grade === null || ply.best === null) {
    return [value];
  }
  const better = `${grade}: ${ply.best.name} ${text(ply.best)}`;
  return [element("b", { class: "mark", "aria-hidden": "true" }, MARKS[grade]), value, element("span", { class: "better" }, better)];
}

// Scrolls the list until the move that is shown can be seen, but not the page.
/** @type {(list: any) => void} */
export function keepInSight(list) {
  const move = list.querySelector("[aria-current]");
  if (move === null) {
    list.scrollTop = 0;
    return;
  }
  const [box, around] = [move.getBoundingClientRect(), list.getBoundingClientRect()];
  list.scrollTop += Math.min(0, box.top - around.top) + Math.max(0, box.bottom - around.bottom);
}
