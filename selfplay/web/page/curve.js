// The values of the match, ply by ply, as estimated by the players. Up is good for the person, or for who moves first.

import { at, svg } from "./drawing.js";
import { gradeOf } from "./moves.js";
import { adviserOf, scaleOfPly, valueText } from "./values.js";

const HEIGHT = 150;
const LEFT = 58;
const RIGHT = 12;
const TOP = 14;
const BOTTOM = 24;
// The smallest range of points that the curve shows.
const FEWEST_POINTS = 4;

// The largest difference from the neutral value: of exact values, which are shown as won, drawn or lost, 1.
const spanOf = (match, ply) => (match.isExact ? 1 : adviserOf(match, ply.seat).span);

// The plies whose value is known: [{number, good, text, ply}], where good is the value to the person minus the neutral
// value.
export function valuesToPerson(match) {
  const seat = match.person_seat ?? 0;
  // Exact points beside estimates that are not in points: only who wins can be shown.
  const isMixed = match.plies.some((ply) => ply.value !== null && !ply.in_points);
  return match.plies
    .map((ply, number) => ({ ply, number: number + 1, sign: ply.seat === seat ? 1 : -1, scale: scaleOfPly(match, ply) }))
    .filter(({ ply }) => ply.value !== null)
    .map(({ ply, number, sign, scale }) => {
      const good = sign * (ply.value - scale.neutral);
      const text = valueText(good, { ...scale, neutral: 0 });
      // On the scale of estimates between a loss and a win, an exact score is one of these.
      const span = scale.isExact && (isMixed || !ply.value_is_points) ? spanOf(match, ply) : null;
      return { ply, number, text, good: span === null ? good : Math.sign(good) * span };
    });
}

// Estimates alternate: each player's own choice looks a little better to it. The mean with the neighbours removes this.
// The last value of a match that is over is its result.
function smoothed(match, points) {
  const isEstimate = (point) => point !== undefined && point.ply.words === null;
  return points.map((point, place) => {
    const beside = [points[place - 1], points[place + 1]].filter((one) => isEstimate(one) && Math.abs(one.number - point.number) === 1);
    if (!isEstimate(point) || beside.length === 0 || (match.is_over && point.number === match.plies.length)) {
      return point;
    }
    const mean = beside.reduce((sum, one) => sum + one.good, 0) / beside.length;
    return { ...point, good: (point.good + mean) / 2 };
  });
}

// The labels of the axis and the height of a value (1: top, -1: bottom), on a scale that suits the match.
function axisOf(match, points) {
  const names = match.person_seat === null ? match.seat_names : ["you", "it"];
  const largest = Math.max(...points.map(({ good }) => Math.abs(good)));
  if (points.every(({ ply }) => ply.in_points)) {
    const span = Math.max(FEWEST_POINTS, Math.ceil(largest / 2) * 2);
    return { ticks: [[span, `+${span}`], [0, "even"], [-span, `−${span}`]], height: (good) => good / span };
  }
  const bounded = points.map(({ ply }) => spanOf(match, ply));
  const span = bounded.includes(null) ? Math.max(1, largest) : Math.max(...bounded, largest);
  // Unbounded values are shown on a logarithmic scale: a won match is far beyond all others.
  const squeeze = bounded.includes(null) ? (v) => Math.sign(v) * Math.log10(1 + Math.abs(v)) : (v) => v;
  return { ticks: [[span, names[0]], [0, "even"], [-span, names[1]]], height: (good) => squeeze(good) / squeeze(span) };
}

// game: gives the colours of the stones; choose(ply): called with the number of plies before the position after a clicked move.
export function drawCurve(place, { game, match, cursor, choose }) {
  const points = smoothed(match, valuesToPerson(match));
  if (points.length === 0) {
    const why = match.plies.length === 0 ? "The curve begins with the first move." : `${adviserOf(match, 0).label} does not estimate values.`;
    place.replaceChildren(Object.assign(document.createElement("p"), { className: "quiet", textContent: why }));
    return;
  }
  const { ticks, height } = axisOf(match, points);
  const width = Math.max(260, place.clientWidth || 480);
  const plies = Math.max(match.plies.length, 6);
  const x = (number) => LEFT + ((width - LEFT - RIGHT) * (number - 1)) / (plies - 1);
  const y = (good) => TOP + ((HEIGHT - TOP - BOTTOM) * (1 - height(good))) / 2;
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", class: "chart" });
  const whose = match.person_seat === null ? match.seat_names[0] : "you";
  drawing.setAttribute("aria-label", `Values of the match for ${whose}: ${points.map((p) => `${p.ply.text} ${p.text}`).join(", ")}`);
  for (const [good, text] of ticks) {
    drawing.append(svg("line", { x1: LEFT, x2: width - RIGHT, y1: y(good), y2: y(good), class: good === 0 ? "zero" : "grid" }));
    drawing.append(svg("text", { x: LEFT - 8, y: y(good) + 4, "text-anchor": "end" }, text));
  }
  if (cursor > 0 && cursor < match.plies.length) {
    drawing.append(svg("line", { x1: x(cursor), x2: x(cursor), y1: TOP, y2: HEIGHT - BOTTOM, class: "cursor" }));
  }
  const path = points.map((p) => `${x(p.number).toFixed(1)} ${y(p.good).toFixed(1)}`);
  const area = `M${x(points[0].number)} ${y(0)}L${path.join("L")}L${x(points.at(-1).number)} ${y(0)}Z`;
  drawing.append(svg("path", { d: area, class: "area" }), svg("path", { d: `M${path.join("L")}`, class: "run" }));
  for (const point of points) {
    const kind = `${game.stone_colours?.[point.ply.seat] ?? `seat${point.ply.seat}`} ${gradeOf(match, point.ply) ?? ""}`;
    const dot = svg("circle", { cx: x(point.number), cy: y(point.good), r: 4.5, class: kind });
    dot.append(svg("title", {}, `${point.number}. ${point.ply.text}: ${point.text} for ${whose}`));
    drawing.append(dot);
  }
  const every = Math.ceil((plies * 34) / width);
  for (let number = 1; number <= plies; number += every) {
    drawing.append(svg("text", { x: x(number), y: HEIGHT - 6, "text-anchor": "middle" }, String(number)));
  }
  drawing.addEventListener("click", (event) => {
    const box = drawing.getBoundingClientRect();
    const number = 1 + ((((event.clientX - box.left) * width) / box.width - LEFT) * (plies - 1)) / (width - LEFT - RIGHT);
    choose(Math.max(0, Math.min(match.plies.length, Math.round(number))));
  });
  place.replaceChildren(drawing);
}

// In games that count points: how many each player has given away so far, against the best moves by the same values.
export function drawLosses(place, { game, match }) {
  const sums = [0, 0];
  const lines = [[[0, 0]], [[0, 0]]];
  match.plies.forEach((ply, number) => {
    if (ply.value !== null && ply.best_value !== null && ply.in_points) {
      sums[ply.seat] += Math.max(0, ply.best_value - ply.value);
      lines[ply.seat].push([number + 1, sums[ply.seat]]);
    }
  });
  const known = lines.flat().length - 2;
  place.hidden = !game.counts_stones || known === 0;
  if (place.hidden) {
    return;
  }
  const width = Math.max(260, at("curve").clientWidth || 480);
  const top = Math.max(FEWEST_POINTS, ...sums);
  const x = (number) => LEFT + ((width - LEFT - RIGHT) * number) / Math.max(match.plies.length, 6);
  const y = (lost) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - lost / top);
  const said = match.seat_names.map((name, seat) => `${name} ${sums[seat].toFixed(1)}`).join(", ");
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", class: "chart", "aria-label": `Lost so far: ${said}` });
  for (const lost of [0, top / 2, top]) {
    drawing.append(svg("line", { x1: LEFT, x2: width - RIGHT, y1: y(lost), y2: y(lost), class: "grid" }));
    drawing.append(svg("text", { x: LEFT - 8, y: y(lost) + 4, "text-anchor": "end" }, lost.toFixed(1)));
  }
  lines.forEach((line, seat) => {
    const points = [...line, [match.plies.length, sums[seat]]].map(([number, lost]) => `${x(number).toFixed(1)} ${y(lost).toFixed(1)}`);
    drawing.append(svg("path", { d: `M${points.join("L")}`, class: `loss ${game.stone_colours?.[seat] ?? ""}` }));
  });
  place.querySelector("div").replaceChildren(drawing);
  at("discs-lost-source").textContent = `— ${said} discs, ${match.plies.every((ply) => ply.value === null || ply.words !== null) ? "exact" : "estimated"}`;
}
