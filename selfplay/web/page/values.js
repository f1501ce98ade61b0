// Values of actions: their scales, and values as text and colours.
//
// A scale is {neutral, span, isExact, inPoints}: the value of an even match, the largest difference from it (null:
// unlimited), whether values are exact integers, and whether they are points such as discs.

export const EXACT_SCALE = { neutral: 0, span: null, isExact: true };
export const RESULT_SCALE = { neutral: 0, span: 1, isResult: true };
export const RESULTS = { "-1": "loss", 0: "draw", 1: "win" };
const POINTS_SCALE = { neutral: 0, span: null, inPoints: true };

// The colours of points differ over this many points.
const POINTS_OF_COLOURS = 8;

// Who estimates the values of the actions of a seat: the evaluator, its player, or the opponent of a person.
export const adviserOf = (match, seat) => match.evaluator ?? match.seats[seat] ?? match.seats[1 - seat] ?? match.opponent;

export function scaleOfPly(match, ply) {
  return ply.words !== null ? EXACT_SCALE : ply.in_points ? POINTS_SCALE : adviserOf(match, ply.seat);
}

// The share of the simulations that each legal action has, in percent; empty if the adviser does not search a tree.
export function sharesOfVisits(match) {
  const counted = match.legal.filter((one) => one.visits !== null);
  const total = counted.reduce((sum, one) => sum + one.visits, 0);
  return new Map(total === 0 ? [] : counted.map((one) => [one.action, Math.round((100 * one.visits) / total)]));
}

// {values, shares, words, results, scale}: what the board shows, by action. results: of estimated actions, with perfect
// play. mode: the choice of the person.
export function valuesToShow(mode, match, perfect) {
  const known = (pairs) => new Map(pairs.filter(([, one]) => one !== null));
  if (mode === "perfect") {
    const scale = perfect === null || perfect.kind === "results" ? RESULT_SCALE : EXACT_SCALE;
    const [values, words] = [perfect?.values, perfect?.words].map((pairs) => known([...(pairs ?? [])]));
    return { values, shares: new Map(), words, results: new Map(), scale };
  }
  const legal = mode === "adviser" ? match.legal : [];
  const words = known(legal.map((one) => [one.action, one.words]));
  const estimated = match.values_in_points ? POINTS_SCALE : adviserOf(match, match.to_move ?? 0);
  return {
    values: known(legal.map((one) => [one.action, one.value])),
    shares: mode === "adviser" ? sharesOfVisits(match) : new Map(),
    words,
    results: known(legal.map((one) => [one.action, one.value === null ? null : one.result])),
    scale: words.size > 0 ? EXACT_SCALE : estimated,
  };
}

// A value as short text. Unbounded values (of searches) are integers.
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
export function shortText(value, scale) {
  if (scale.inPoints && Math.abs(value) >= 10) {
    return valueText(value, EXACT_SCALE);
  }
  return scale.span === null ? null : valueText(value, scale, 1);
}

// The largest difference from the neutral value, and the best value, of those shown on a board.
export function extremes(values, scale) {
  const shown = [...values.values()];
  return {
    largest: Math.max(0, ...shown.map((value) => Math.abs(value - scale.neutral))),
    best: Math.max(...shown),
    worst: Math.min(...shown),
  };
}

// What is known about an action, on a scale from bad (-1) to good (1). Unbounded estimates are compared with the best one.
export function goodness({ value, result }, scale, { largest, best, worst }) {
  if (value === undefined || result !== undefined) {
    return result ?? 0;
  }
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

export function paint(node, good) {
  node.dataset.tone = good > 0.02 ? "good" : good < -0.02 ? "bad" : "even";
  node.style.setProperty("--strength", `${Math.round(18 + 62 * Math.abs(good))}%`);
}

export function unpaint(node) {
  delete node.dataset.tone;
}
