// The values of the match, ply by ply, as estimated by the players. Up is good for the person, or for who moves first.

import { at, element, svg } from "./drawing.js";
import { pathOf } from "./geometry.js";
import { adviserOf, areComparable, gradeOf, isExactPoints, scaleOfPly, silentOf, valueText } from "./values.js";

// The heights of the curve and of the chart of losses.
const [HEIGHT, LOW] = [104, 80];
const LEFT = 64;
// The most characters of a name beside the curve.
const LONGEST_NAME = 8;
const RIGHT = 12;
const TOP = 14;
const BOTTOM = 24;
// The smallest range of points that the curve shows.
const FEWEST_POINTS = 4;

// A value of a ply, as a number and a text, where good is the value to the person minus the neutral value.
/** @typedef {{number: number, good: number, text: string, ply: PlyDescription}} Valued */

// The largest difference from the neutral value.
/** @type {(match: MatchView, ply: PlyDescription) => number | null} */
const spanOf = (match, ply) => adviserOf(match, ply.seat).span;

// The plies whose value is known.
/** @type {(match: MatchView) => Valued[]} */
function valuesToPerson(match) {
  const seat = match.person_seat ?? 0;
  // If exact points are mixed with estimates that are not in points, only the winner can be shown.
  const isMixed = match.plies.some((ply) => ply.value !== null && !ply.in_points);
  return match.plies
    .map((ply, number) => ({ ply, number: number + 1, sign: ply.seat === seat ? 1 : -1, scale: scaleOfPly(match, ply) }))
    .filter(({ ply }) => ply.value !== null)
    .map(({ ply, number, sign, scale }) => {
      const good = sign * (Number(ply.value) - scale.neutral);
      const text = valueText(good, { ...scale, neutral: 0 });
      // On a scale of estimates from a loss to a win, an exact score is a loss, a draw or a win.
      const span = scale.isExact && (isMixed || !isExactPoints(ply)) ? spanOf(match, ply) : null;
      return { ply, number, text, good: span === null ? good : Math.sign(good) * span };
    });
}

// Estimates alternate, because each player rates its own moves a little too high. The mean with the neighbours removes this.
// The last value of a match that is over is its result.
/** @type {(match: MatchView, points: Valued[]) => Valued[]} */
function smoothed(match, points) {
  const isEstimate = (/** @type {Valued | undefined} */ point) => point !== undefined && point.ply.words === null;
  return points.map((point, place) => {
    const beside = [points[place - 1], points[place + 1]].filter((one) => isEstimate(one) && Math.abs(one.number - point.number) === 1);
    if (!isEstimate(point) || beside.length === 0 || (match.is_over && point.number === match.plies.length)) {
      return point;
    }
    const mean = beside.reduce((sum, one) => sum + one.good, 0) / beside.length;
    return { ...point, good: (point.good + mean) / 2 };
  });
}

// The lines of the axis, and the height of a value (1: top, -1: bottom), on a scale that suits the match.
/** @type {(match: MatchView, points: Valued[]) => {ticks: [number, string][], height: (good: number) => number}} */
function axisOf(match, points) {
  const whole = match.person_seat === null ? match.seat_names : ["you", "opponent"];
  const names = whole.map((name) => (name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name));
  const largest = Math.max(...points.map(({ good }) => Math.abs(good)));
  if (points.every(({ ply }) => ply.in_points)) {
    const span = Math.max(FEWEST_POINTS, Math.ceil(largest / 2) * 2);
    return { ticks: [[1, `+${span}`], [0.5, "even"], [0, `−${span}`]], height: (good) => good / span };
  }
  const bounded = points.map(({ ply }) => spanOf(match, ply));
  const spans = bounded.filter((span) => span !== null);
  const isBounded = spans.length === bounded.length;
  const span = Math.max(...(isBounded ? spans : [1]), largest);
  // Unbounded values are shown on a logarithmic scale, because the value of a won match is far larger than all others.
  /** @type {(good: number) => number} */
  const squeeze = (good) => (isBounded ? good : Math.sign(good) * Math.log10(1 + Math.abs(good)));
  return { ticks: [[1, names[0]], [0.5, "even"], [0, names[1]]], height: (good) => squeeze(good) / squeeze(span) };
}

// The empty chart, and the heights in it from 0 (bottom) to 1 (top), with these lines across: [[height, text]].
/** @type {(label: string, lines: [number, string][], heightOfAll: number) => {drawing: any, width: number, y: (height: number) => number, inside: number}} */
function frame(label, lines, heightOfAll) {
  const width = Math.max(260, at("curve").clientWidth || 480);
  const y = (/** @type {number} */ height) => TOP + (heightOfAll - TOP - BOTTOM) * (1 - height);
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${heightOfAll}`, role: "img", class: "chart", "aria-label": label });
  for (const [height, text] of lines) {
    const kind = text === "even" ? "zero" : "grid";
    drawing.append(svg("line", { x1: LEFT, x2: width - RIGHT, y1: y(height), y2: y(height), class: kind }));
    drawing.append(svg("text", { x: LEFT - 8, y: y(height) + 4, "text-anchor": "end" }, text));
  }
  return { drawing, width, y, inside: width - LEFT - RIGHT };
}

// game: gives the colours of the stones; isWaiting: whether values are still to come; goTo: called with a number of plies when the position after them is chosen.
/** @type {(place: any, shown: {game: GameView, match: MatchView, cursor: number, isWaiting: boolean, goTo: GoTo}) => void} */
export function drawCurve(place, { game, match, cursor, isWaiting, goTo }) {
  const points = smoothed(match, valuesToPerson(match));
  if (points.length === 0) {
    const isBegun = match.plies.length > 0;
    const why = isBegun && isWaiting ? "One moment…" : isBegun ? `${(silentOf(match) ?? adviserOf(match, 0)).label} does not estimate values.` : "The curve begins with the first move.";
    place.replaceChildren(element("p", { class: "quiet" }, why));
    return;
  }
  const whose = match.person_seat === null ? match.seat_names[0] : "you";
  const said = points.map(({ ply, text }) => `${ply.name} ${text}`).join(", ");
  const { ticks, height } = axisOf(match, points);
  const { drawing, width, inside, y: yOf } = frame(`Values of the match for ${whose}: ${said}`, ticks, HEIGHT);
  const plies = Math.max(match.plies.length, 6);
  const x = (/** @type {number} */ number) => LEFT + (inside * (number - 1)) / (plies - 1);
  const y = (/** @type {number} */ good) => yOf((1 + height(good)) / 2);
  if (cursor > 0 && cursor < match.plies.length) {
    drawing.append(svg("line", { x1: x(cursor), x2: x(cursor), y1: TOP, y2: HEIGHT - BOTTOM, class: "cursor" }));
  }
  /** @type {Point[]} */
  const line = points.map(({ number, good }) => [x(number), y(good)]);
  const area = pathOf([[line[0][0], y(0)], ...line, [line[line.length - 1][0], y(0)]]);
  drawing.append(svg("path", { d: area, class: "area" }), svg("path", { d: pathOf(line), class: "line" }));
  for (const { ply, number, good, text } of points) {
    const kind = `ply ${game.stone_colours?.[ply.seat] ?? `seat${ply.seat}`} ${gradeOf(match, ply) ?? ""}`;
    const title = svg("title", {}, `${number}. ${ply.name}: ${text} for ${whose}`);
    drawing.append(svg("circle", { cx: x(number), cy: y(good), r: 4.5, class: kind }, title));
  }
  for (let number = 1; number <= plies; number += Math.ceil((plies * 34) / width)) {
    drawing.append(svg("text", { x: x(number), y: HEIGHT - 6, "text-anchor": "middle" }, String(number)));
  }
  drawing.addEventListener("click", (/** @type {MouseEvent} */ event) => {
    const box = drawing.getBoundingClientRect();
    const number = 1 + ((((event.clientX - box.left) * width) / box.width - LEFT) * (plies - 1)) / inside;
    goTo(Math.round(number));
  });
  place.replaceChildren(drawing);
}

// In games that count points: the points that each player has given away so far, compared with the best moves.
/** @type {(place: any, shown: {game: GameView, match: MatchView}) => void} */
export function drawLosses(place, { game, match }) {
  const sums = [0, 0];
  /** @type {Point[][]} */
  const lines = [[[0, 0]], [[0, 0]]];
  match.plies.forEach((ply, number) => {
    if (ply.in_points && areComparable(ply, ply.best)) {
      sums[ply.seat] += Math.max(0, Number(ply.best.value) - Number(ply.value));
      lines[ply.seat].push([number + 1, sums[ply.seat]]);
    }
  });
  place.hidden = lines.flat().length === 2;
  if (place.hidden) {
    return;
  }
  const top = Math.max(FEWEST_POINTS, ...sums);
  const said = match.seat_names.map((name, seat) => `${name} ${sums[seat].toFixed(1)}`).join(", ");
  const { drawing, inside, y } = frame(`Lost so far: ${said}`, [0, 0.5, 1].map((height) => [height, (height * top).toFixed(1)]), LOW);
  lines.forEach((line, seat) => {
    /** @type {Point[]} */
    const places = [...line, [match.plies.length, sums[seat]]];
    const d = pathOf(places.map(([number, lost]) => [LEFT + (inside * number) / Math.max(match.plies.length, 6), y(lost / top)]));
    drawing.append(svg("path", { d, class: `line loss ${game.stone_colours?.[seat] ?? ""}` }));
  });
  place.querySelector("div").replaceChildren(drawing);
  at("discs-lost-source").textContent = `— ${said} ${match.point_name}`;
}
