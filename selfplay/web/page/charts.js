// Charts as inline SVG, each with its data in a table below.

import { element, svg } from "./drawing.js";

let NARROW = 640;
let WIDE = 1080;
let SMOOTHING = 0;
const HEIGHT = 300;
// In pixels, as the style sheet has them: the least width of a card, the space between cards, and that inside of one.
const COLUMN = 416;
const GAP = 16;
const INSIDE = 34;
const LEFT = 66;
const RIGHT = 16;
const TOP = 16;
const BOTTOM = 44;
// See scales.
const MANY_TIMES = 3;

// Charts are drawn for the available width, so that their text stays readable on a phone. smoothing: see `smoothed`.
/** @type {(pixels: number, smoothing?: number) => void} */
export function drawFor(pixels, smoothing = 0) {
  SMOOTHING = smoothing;
  const columns = Math.max(1, Math.floor((pixels + GAP) / (COLUMN + GAP)));
  NARROW = Math.max(260, (pixels + GAP) / columns - GAP - INSIDE);
  WIDE = Math.max(260, pixels - INSIDE);
}

// The mean of each value and `reach` values on each side; near the ends with fewer, the same number on both sides.
/** @type {(values: number[], reach: number) => number[]} */
function smoothed(values, reach) {
  return values.map((_, place) => {
    const near = Math.min(reach, place, values.length - 1 - place);
    const around = values.slice(place - near, place + near + 1);
    return around.reduce((sum, value) => sum + value, 0) / around.length;
  });
}

// About `count` round numbers in [low, high].
/** @type {(low: number, high: number, count: number) => number[]} */
function ticks(low, high, count) {
  const raw = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= raw * 0.999) ?? raw;
  const found = [];
  for (let number = Math.ceil(low / step - 1e-9) * step; number <= high + step * 1e-6; number += step) {
    found.push(Number(number.toPrecision(12)));
  }
  return found;
}

// How a chart is laid out: the places of values, the ends of its axes, its width, and the heights of lines across it.
/** @typedef {{x: (number: number) => number, y: (number: number) => number, left: number, right: number, width: number, heights: number[]}} Scales */

// Round numbers in [low, high] on a logarithmic scale.
/** @type {(low: number, high: number) => number[]} */
function ratioTicks(low, high) {
  const powers = Array.from({ length: Math.ceil(Math.log10(high / low)) + 2 }, (_, power) => Math.floor(Math.log10(low)) + power);
  return powers.flatMap((power) => [1, 2, 5].map((digit) => Number(`${digit}e${power}`))).filter((number) => number >= low && number <= high);
}

/** @type {(number: number) => string} */
const label = (number) => (Object.is(number, -0) ? "0" : String(Math.abs(number) >= 10000 ? number.toExponential(0) : number));

// A single level or epoch is in the middle. isRatio: the heights are on a logarithmic scale if the largest value is many times
// the smallest, as when the first level would otherwise press all others to the bottom.
/** @type {(series: {points: {x: number, y: number}[]}[], width: number, options: {fixed?: {low: number, high: number}, isRatio?: boolean}) => Scales} */
function scales(series, width, { fixed, isRatio = false }) {
  const xs = series.flatMap((one) => one.points.map((point) => point.x));
  const ys = series.flatMap((one) => one.points.map((point) => point.y));
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const isLogarithmic = isRatio && Math.min(...ys) > 0 && Math.max(...ys) > MANY_TIMES * Math.min(...ys);
  const low = isLogarithmic ? Math.min(...ys) / 1.1 : (fixed?.low ?? Math.min(0, ...ys));
  const high = isLogarithmic ? Math.max(...ys) * 1.1 : (fixed?.high ?? (Math.max(...ys, low + 1e-9) + 0.04 * (Math.max(...ys) - low)));
  const before = left === right ? 0.5 : 0;
  const x = (/** @type {number} */ number) => LEFT + ((width - LEFT - RIGHT) * (number - left + before)) / Math.max(right - left, 1);
  const share = (/** @type {number} */ number) => (isLogarithmic ? Math.log(number / low) / Math.log(high / low) : (number - low) / Math.max(high - low, 1e-9));
  const y = (/** @type {number} */ number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - share(number));
  return { x, y, left, right, width, heights: isLogarithmic ? ratioTicks(low, high) : ticks(low, high, 5) };
}

/** @type {(drawing: any, scale: Scales, xLabel: string, yLabel: string) => void} */
function axes(drawing, scale, xLabel, yLabel) {
  for (const number of scale.heights) {
    const y = scale.y(number);
    drawing.append(svg("line", { x1: LEFT, x2: scale.width - RIGHT, y1: y, y2: y, class: number === 0 ? "zero" : "grid" }));
    drawing.append(svg("text", { x: LEFT - 8, y: y + 4, "text-anchor": "end" }, label(number)));
  }
  for (const number of ticks(scale.left, scale.right, Math.min(scale.width / 50, Math.max(1, scale.right - scale.left)))) {
    if (Number.isInteger(number)) {
      drawing.append(svg("text", { x: scale.x(number), y: HEIGHT - BOTTOM + 18, "text-anchor": "middle" }, label(number)));
    }
  }
  drawing.append(svg("text", { x: (LEFT + scale.width - RIGHT) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, xLabel));
  const middle = (TOP + HEIGHT - BOTTOM) / 2;
  drawing.append(svg("text", { x: 0, y: 0, "text-anchor": "middle", transform: `translate(12 ${middle}) rotate(-90)` }, yLabel));
}

// chart: {title, about, xLabel, yLabel, fixed: the ends of the y axis, isRatio, isWide, isExact, table, marks: [{x, text}],
//         series: [{name, tone, dash, points: [{x, y, text, isMarked, interval}], isQuiet, dots}]}
// If curves are smoothed, the values themselves are still shown as a faint line, and in the tooltips and the table. Exact
// values are not smoothed.
/** @type {(chart: Chart & {series: Series[]}) => any} */
export function lineChart(chart) {
  const smoothing = chart.isExact ? 0 : SMOOTHING;
  const width = chart.isWide ? WIDE : NARROW;
  const scale = scales(chart.series, width, chart);
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", class: "chart", "aria-label": `${chart.title}. ${chart.about}` });
  axes(drawing, scale, chart.xLabel, chart.yLabel);
  for (const { x, text } of chart.marks ?? []) {
    const place = Math.max(scale.x(x), LEFT);
    drawing.append(svg("line", { x1: place, x2: place, y1: TOP, y2: HEIGHT - BOTTOM, class: "mark" }, svg("title", {}, text)));
  }
  for (const one of chart.series) {
    const line = (/** @type {number[]} */ heights) => `M${one.points.map((point, n) => `${scale.x(point.x).toFixed(1)} ${scale.y(heights[n]).toFixed(1)}`).join("L")}`;
    const values = one.points.map((point) => point.y);
    const path = svg("path", { d: line(smoothed(values, smoothing)), class: "line", "stroke-dasharray": one.dash ?? "none" });
    const group = svg("g", { class: smoothing > 0 ? "series smooth" : "series" });
    const isLine = one.points.length > 1;
    if (isLine) {
      group.append(path);
    }
    if (isLine && smoothing > 0) {
      group.prepend(svg("path", { d: line(values), class: "raw" }));
    }
    group.style.setProperty("--tone", one.tone);
    for (const { x, interval } of one.points) {
      if (interval) {
        const [low, high] = interval.map(scale.y);
        group.append(svg("line", { x1: scale.x(x), x2: scale.x(x), y1: low, y2: high, class: "interval" }));
      }
    }
    for (const point of one.points) {
      // Every point has a tooltip; not all are drawn.
      const isDrawn = one.dots !== false || point.isMarked || !isLine;
      const place = { cx: scale.x(point.x), cy: scale.y(point.y) };
      group.append(svg("circle", { ...place, r: isDrawn ? 4 : 6, class: isDrawn ? "dot" : "ghost" }, svg("title", {}, `${one.name}, ${point.text}`)));
    }
    drawing.append(group);
  }
  return figure(chart, drawing);
}

// An exact share. It is only written as 0 or 1 if it is exactly that.
/** @type {(share: number) => string} */
export const shareText = (share) => (share === 0 || share === 1 ? String(share) : share < 0.0001 ? "<0.0001" : share > 0.9999 ? ">0.9999" : share.toFixed(4));

// chart: {title, about, xLabel, yLabel, parts: [{name, tone}], bars: [{x, values, text}]}: shares that add up to 1
/** @type {(chart: Chart & {parts: {name: string, tone: string}[], bars: {x: number, values: number[]}[]}) => any} */
export function shareChart(chart) {
  const scale = scales([{ points: chart.bars.map((bar) => ({ x: bar.x, y: 1 })) }], NARROW, { fixed: { low: 0, high: 1 } });
  const width = Math.min(46, (0.72 * (NARROW - LEFT - RIGHT)) / chart.bars.length);
  const inner = (/** @type {number} */ number) => scale.x(number) * (1 - (2 * width) / NARROW) + width;
  const drawing = svg("svg", { viewBox: `0 0 ${NARROW} ${HEIGHT}`, role: "img", class: "chart", "aria-label": `${chart.title}. ${chart.about}` });
  axes(drawing, { ...scale, x: inner }, chart.xLabel, chart.yLabel);
  for (const bar of chart.bars) {
    let below = 0;
    bar.values.forEach((value, part) => {
      const shape = { x: inner(bar.x) - width / 2, y: scale.y(below + value), width, height: Math.max(0, scale.y(below) - scale.y(below + value)), class: "portion" };
      const piece = svg("rect", shape, svg("title", {}, `level ${bar.x}: ${chart.parts[part].name} ${shareText(value)}`));
      piece.style.setProperty("--tone", chart.parts[part].tone);
      drawing.append(piece);
      below += value;
    });
  }
  return figure({ ...chart, series: chart.parts }, drawing);
}

/** @type {(chart: Chart & {series: {name: string, tone: string, dash?: string | null, isQuiet?: boolean}[]}, drawing: any) => any} */
function figure(chart, drawing) {
  const named = chart.series.filter((one) => !one.isQuiet);
  const legend = element("ul", { class: "legend" }, ...named.map((one) => {
    const swatch = element("span", { class: one.dash ? "swatch dashed" : "swatch", "aria-hidden": "true" });
    swatch.style.setProperty("--tone", one.tone);
    return element("li", {}, swatch, one.name);
  }));
  legend.append(...(chart.marks ?? []).map(({ text }) => element("li", {}, element("span", { class: "swatch mark", "aria-hidden": "true" }), text)));
  const made = element("figure", { class: chart.isWide ? "card wide" : "card", id: chart.id }, element("figcaption", {}, element("h2", {}, chart.title), element("p", { class: "quiet" }, chart.about)), drawing);
  if (legend.children.length > 1) {
    made.append(legend);
  }
  if (chart.table) {
    made.append(element("details", {}, element("summary", {}, "Show the data as a table"), element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${chart.title}, as a table` }, table(chart.table))));
  }
  return made;
}

// {caption, head: [text], rows: [[text]]}
/** @type {(table: Table) => any} */
export function table({ caption, head, rows }) {
  return element(
    "table",
    { class: "figures" },
    element("caption", { class: "hidden" }, caption),
    element("thead", {}, element("tr", {}, ...head.map((text) => element("th", { scope: "col" }, text)))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((text) => element("td", {}, String(text)))))),
  );
}
