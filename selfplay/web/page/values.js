// Values of actions: their scales, and values as text and colours.
//
// A scale is {neutral, span, isExact, inPoints}: the value of an even match, the largest difference from it (null:
// unlimited), whether values are exact integers, and whether they are points such as discs.

import { element } from "./drawing.js";

/** @type {Scale} */
const EXACT_SCALE = { neutral: 0, span: null, isExact: true };
/** @type {Scale} */
export const RESULT_SCALE = { neutral: 0, span: 1, isResult: true };
/** @type {Scale} */
const PROVED_SCALE = { ...EXACT_SCALE, isResult: true };
/** @type {Record<string, string>} */
const RESULTS = { "-1": "loss", 0: "draw", 1: "win" };
/** @type {Record<string, string>} */
const VERBS = { "-1": "loses", 0: "draws", 1: "wins" };
/** @type {Scale} */
const POINTS_SCALE = { neutral: 0, span: null, inPoints: true };

// The colours of points differ over this many points.
const POINTS_OF_COLOURS = 8;

// Who values the actions of a seat.
/** @type {(match: Pick<MatchView, "advisers">, seat: number) => OfferedPlayer} */
export const adviserOf = ({ advisers }, seat) => advisers[seat];

// The first of them that does not estimate values; undefined if there is none.
/** @type {(match: MatchView) => OfferedPlayer | undefined} */
export const silentOf = ({ advisers }) => advisers.find(({ estimates }) => !estimates);

// The scale of the value of a ply or, as `one`, of its best action: one can be exact and the other estimated.
/** @type {(match: Pick<MatchView, "advisers">, ply: PlyData, one?: ValuedAction) => Scale} */
export function scaleOfPly(match, ply, one = ply) {
  const { words } = one;
  return words === null ? (ply.in_points ? POINTS_SCALE : adviserOf(match, ply.seat)) : isResultIn(words) ? PROVED_SCALE : EXACT_SCALE;
}

// Whether an exact value in words is a result without a number of moves or points.
/** @type {(words: string) => boolean} */
const isResultIn = (words) => Object.values(VERBS).includes(words);

// What the board shows: {known, scale}. known: by action {value, share, words, result}, each null if it is not known;
// share: of the simulations, in percent; result: with perfect play, beside an estimate. mode: the choice of the person.
// judged: see Review; null while nothing is known.
/** @type {(mode: Mode, match: MatchView, judged: Judged | null) => Values} */
export function valuesToShow(mode, match, judged) {
  if (mode === "perfect") {
    if (judged !== null) {
      return { known: judged.known, scale: judgeScale(match, judged) };
    }
    const atOnce = new Map(match.legal.flatMap((one) => {
      const found = knownAtOnce(one);
      return found === null ? [] : [[one.action, found]];
    }));
    return { known: atOnce, scale: match.legal.some(({ words }) => words !== null) ? EXACT_SCALE : RESULT_SCALE };
  }
  const legal = mode === "adviser" ? match.legal : [];
  const total = legal.reduce((sum, { visits }) => sum + (visits ?? 0), 0);
  /** @type {(one: ActionDescription) => Known} */
  const about = ({ action, text, name, value, visits, words, result }) => ({
    action,
    text,
    name,
    grade: null,
    value,
    share: visits === null || total === 0 ? null : Math.round((100 * visits) / total),
    words,
    result: value === null ? null : result,
  });
  const actions = legal.filter(({ value, visits }) => value !== null || visits !== null);
  const known = new Map(actions.map((one) => [one.action, about(one)]));
  const estimated = match.values_in_points ? POINTS_SCALE : adviserOf(match, match.to_move ?? 0);
  return { known, scale: legal.some(({ words }) => words !== null) ? EXACT_SCALE : estimated };
}

// What a legal action leads to with perfect play if the match says so, until the exact values have come; null if not.
/** @type {(one: ActionDescription) => Known | null} */
function knownAtOnce({ action, text, name, value, words, result }) {
  const about = { action, text, name, grade: null, share: null, result: null };
  return words !== null ? { ...about, value, words } : result === null ? null : { ...about, value: result, words: VERBS[result] };
}

/** @type {(match: Pick<MatchView, "judge">, judged: Pick<Judged, "kind" | "isExact">) => Scale} */
export const judgeScale = ({ judge }, { kind, isExact }) =>
  isExact ? (kind === "results" ? RESULT_SCALE : EXACT_SCALE) : kind === "points" ? POINTS_SCALE : judge;

// A value as short text. Unbounded values (of searches) are integers.
/** @type {(value: number, scale: Scale, decimals?: number) => string} */
export function valueText(value, scale, decimals = 2) {
  const size = Math.abs(value);
  if (scale.isResult) {
    return RESULTS[value];
  }
  if (scale.span !== null && scale.neutral !== 0) {
    return size.toFixed(decimals);
  }
  const isLarge = scale.span === null && !scale.inPoints && size >= 1000;
  const text = isLarge ? `${Math.round(size / 1000)}k` : size.toFixed(scale.inPoints ? 1 : scale.span === null ? 0 : decimals);
  if (Number(text) === 0) {
    return scale.span === null ? text : `+${text}`;
  }
  return `${value < 0 ? "−" : "+"}${text}`;
}

// The text of a value on a small square.
/** @type {(value: number, scale: Scale) => string | null} */
function shortText(value, scale) {
  if (scale.inPoints && Math.abs(value) >= 10) {
    return valueText(value, EXACT_SCALE);
  }
  return scale.span === null ? null : valueText(value, scale, 1);
}

// How good each known action is, on a scale from bad (-1) to good (1). Unbounded estimates are compared with the best one.
/** @type {(one: Known, scale: Scale, values: number[]) => number} */
function goodness({ value, result }, scale, values) {
  if (value === null || result !== null) {
    return result ?? 0;
  }
  const [best, worst] = [Math.max(...values), Math.min(...values)];
  const largest = Math.max(...values.map((one) => Math.abs(one - scale.neutral)));
  if (scale.isExact) {
    // Every win differs clearly from a draw.
    return Math.sign(value) * (0.4 + (0.6 * Math.abs(value)) / Math.max(largest, 1));
  }
  if (scale.span === null) {
    const reach = scale.inPoints ? POINTS_OF_COLOURS : Math.max(best - worst, largest / 4, 1e-9);
    return 1 - 2 * Math.min(1, (best - value) / reach);
  }
  return Math.max(-1, Math.min(1, (value - scale.neutral) / scale.span));
}

// Colours the square, button or head of an action by what is known about it; returns {label, words}: an element to put there
// if anything is known, and the same in words.
/** @type {(node: any, action: number | null | undefined, shown: Values) => {label: any[], words: string[]}} */
export function showValue(node, action, { known, scale }) {
  const one = known.get(action ?? -1);
  const values = [...known.values()].flatMap(({ value }) => (value === null ? [] : [value]));
  const isBest = one !== undefined && bestActions(known).includes(Number(action)) && Number(one.value) > Math.min(...values);
  node.classList.toggle("best", isBest);
  delete node.dataset.tone;
  if (one === undefined) {
    return { label: [], words: [] };
  }
  const good = goodness(one, scale, values);
  node.dataset.tone = good > 0.02 ? "good" : good < -0.02 ? "bad" : "even";
  node.style.setProperty("--strength", `${Math.round(18 + 62 * Math.abs(good))}%`);
  return { label: [valueLabel(one, scale)], words: valueInWords(one, scale) };
}

// The best of the actions whose value is known: by their shares of the simulations if there are any.
/** @type {(known: Map<number, Known>) => number[]} */
export function bestActions(known) {
  /** @type {(one: Known) => number} */
  const merit = ({ value, share }) => (value === null ? -Infinity : (share ?? value));
  const most = Math.max(...[...known.values()].map(merit));
  return [...known].filter(([, one]) => merit(one) === most).map(([action]) => action);
}

// A value, above its share of the simulations or its result with perfect play if there is one. The label has a shorter
// text for small squares, and a second line ("in 8", "by 6") for large ones.
/** @type {(one: Known, scale: Scale) => any} */
function valueLabel(one, scale) {
  const { value, share, words, result } = one;
  const below = [share === null ? "" : `${share}%`, RESULTS[result ?? ""] ?? ""].join(" ").trim();
  const attributes = {
    class: "value",
    "data-short": value === null ? null : shortText(value, scale),
    "data-more": words?.match(/ (.+)/)?.[1],
    title: words ?? (share === null ? null : valueInWords(one, scale).join(", ")),
  };
  const text = value === null ? "" : valueText(value, scale);
  return element("span", attributes, text, ...(below === "" ? [] : [element("small", { class: "share" }, below)]));
}

/** @type {(one: Known, scale: Scale) => string[]} */
const valueInWords = ({ value, share, words, result }, scale) =>
  [
    value === null || scale.isResult ? "" : `value ${valueText(value, scale)}`,
    share === null ? "" : `${share}% of the simulations`,
    words ?? "",
    result === null ? "" : `${RESULTS[result]} with perfect play`,
  ].filter(Boolean);

// ---------------------------------------------------------------------- plies

// Whether the value of a ply is the exact number of points won at the end of the match.
/** @type {(ply: PlyDescription) => boolean} */
export const isExactPoints = (ply) => ply.in_points && ply.words !== null;

// Values of networks are float32.
const ROUNDING = 1e-6;
/** @type {NonNullable<Grade>[]} */
const GRADES = ["inaccuracy", "mistake", "blunder"];

// Whether the values of two actions can be compared: both are exact, or both are estimates.
/** @type {(one: ValuedAction, best: ValuedAction | null) => best is ValuedAction} */
export const areComparable = (one, best) =>
  best !== null && one.value !== null && best.value !== null && (one.words === null) === (best.words === null);

// How much worse than the best action an action is; of two exact values, throwing away a win or a draw is a blunder. Null also if
// only one of both is exact. losses: the smallest one of each grade; a value that is neither points nor exact is at most as far from
// that of an even match as a win is.
/** @type {(losses: number[], one: ValuedAction, best: ValuedAction, scale: Scale) => Grade} */
export function gradeOfLoss(losses, one, best, { neutral }) {
  const [value, most] = [Number(one.value), Number(best.value)];
  if (!areComparable(one, best)) {
    return null;
  }
  if (one.words !== null && Math.sign(value) !== Math.sign(most)) {
    return "blunder";
  }
  const loss = (most - value) / (neutral || 1);
  return GRADES[losses.filter((smallest) => loss >= smallest - ROUNDING).length - 1] ?? null;
}

// The grade of a ply; null if it was about as good as the best, or if its value has no unit, as in some searches.
/** @type {(match: MatchView, ply: PlyDescription) => Grade} */
export function gradeOf(match, ply) {
  const scale = scaleOfPly(match, ply);
  return scale.span === null && !scale.isExact && !scale.inPoints ? null : ply.grade;
}
