// The values of the match, ply by ply, as estimated by the opponent. Up is good for the person.

import { EXACT_SCALE, svg, valueText } from "./drawing.js";

const HEIGHT = 150;
const LEFT = 44;
const RIGHT = 12;
const TOP = 14;
const BOTTOM = 24;

// The plies whose value is known: [{number, good, ply}], where good is the value to the person minus the neutral value.
export function valuesToPerson(match) {
  const { neutral, span } = match.opponent;
  return match.plies
    .map((ply, number) => ({ ply, number: number + 1, sign: ply.seat === match.person_seat ? 1 : -1 }))
    .filter(({ ply }) => ply.value !== null)
    .map(({ ply, number, sign }) => {
      const good = sign * (ply.value - (ply.words === null ? neutral : 0));
      const text = valueText(good, ply.words === null ? { neutral: 0, span } : EXACT_SCALE);
      // On the scale of estimates between a loss and a win, an exact score is one of these.
      return { ply, number, text, good: ply.words === null || span === null ? good : Math.sign(good) * span };
    });
}

export function drawCurve(place, match) {
  const points = valuesToPerson(match);
  if (points.length === 0) {
    const why = match.plies.length === 0 ? "The curve begins with the first move." : `${match.opponent.label} does not estimate values.`;
    place.replaceChildren(Object.assign(document.createElement("p"), { className: "quiet", textContent: why }));
    return;
  }
  // Unbounded values are shown on a logarithmic scale: a won match is far beyond all others.
  const squeeze = match.opponent.span === null ? (v) => Math.sign(v) * Math.log10(1 + Math.abs(v)) : (v) => v;
  const span = match.opponent.span ?? Math.max(1, ...points.map(({ good }) => Math.abs(good)));
  const width = Math.max(260, place.clientWidth || 480);
  const plies = Math.max(match.plies.length, 6);
  const x = (number) => LEFT + ((width - LEFT - RIGHT) * (number - 1)) / (plies - 1);
  const y = (good) => TOP + ((HEIGHT - TOP - BOTTOM) * (1 - squeeze(good) / squeeze(span))) / 2;
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", class: "chart" });
  drawing.setAttribute("aria-label", `Values of the match for you: ${points.map((p) => `${p.ply.text} ${p.text}`).join(", ")}`);
  for (const [good, text] of [[span, "you"], [0, "even"], [-span, "it"]]) {
    drawing.append(svg("line", { x1: LEFT, x2: width - RIGHT, y1: y(good), y2: y(good), class: good === 0 ? "zero" : "grid" }));
    drawing.append(svg("text", { x: LEFT - 8, y: y(good) + 4, "text-anchor": "end" }, text));
  }
  const path = points.map((p) => `${x(p.number).toFixed(1)} ${y(p.good).toFixed(1)}`);
  const area = `M${x(points[0].number)} ${y(0)}L${path.join("L")}L${x(points.at(-1).number)} ${y(0)}Z`;
  drawing.append(svg("path", { d: area, class: "area" }), svg("path", { d: `M${path.join("L")}`, class: "run" }));
  for (const point of points) {
    const dot = svg("circle", { cx: x(point.number), cy: y(point.good), r: 4.5, class: point.ply.by_person ? "yours" : "its" });
    dot.append(svg("title", {}, `${point.number}. ${point.ply.text}: ${point.text} for you`));
    drawing.append(dot);
  }
  const every = Math.ceil((plies * 34) / width);
  for (let number = 1; number <= plies; number += every) {
    drawing.append(svg("text", { x: x(number), y: HEIGHT - 6, "text-anchor": "middle" }, String(number)));
  }
  place.replaceChildren(drawing);
}
