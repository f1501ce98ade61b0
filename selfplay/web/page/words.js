// Sentences about a match.

import { areTwoPeople, areWatching } from "./address.js";
import { at, element } from "./drawing.js";
import { adviserOf, areComparable, bestActions, gradeOf, silentOf, valueText } from "./values.js";

// The best moves that are named.
const MOST_BEST = 3;

// Who holds a seat: a player by its name, or a person in one or two words.
/** @type {(match: MatchView, seat: number) => string} */
const whoIs = (match, seat) => match.seats[seat]?.label ?? (match.person_seat === null ? "a person" : "you");

// The same as a name: of two people, the colours of their stones.
/** @type {(match: MatchView, seat: number) => string} */
export const nameOf = (match, seat) => match.seats[seat]?.label ?? capital(match.person_seat === null ? match.seat_names[seat] : "you");

// What the text of a match said of its players and its end, and what of it is not shown.
/** @type {(match: MatchView, record: RecordView) => string} */
export function aboutRecord({ seat_names: colours }, { players, result, variations }) {
  const names = players.flatMap((name, seat) => (name === "" ? [] : [`${name} (${colours[seat]})`]));
  const ended = result === null ? [] : [`${capital(result)}.`];
  const left = variations === 0 ? [] : [`${variations} other ${variations === 1 ? "line of play is" : "lines of play are"} left out.`];
  return [...(names.length > 0 ? [`${names.join(" – ")}.`] : []), ...ended, ...left].join(" ");
}

// The player of a seat who has to move.
/** @type {(match: MatchView, seat: number, isSolving?: boolean) => string} */
export const isThinking = (match, seat, isSolving = false) =>
  `${(match.seats[seat] ?? match.opponent).label} is ${isSolving ? "still solving this position" : "thinking"}…`;

// Said while the server loads and compiles players.
export const PREPARING = "Preparing the opponent…";

// How far this is, and who moves until then.
/** @type {(label: string, progress: PreparationView, seconds: number) => string} */
export function aboutPreparation(label, { is_loading: isLoading, compiled, functions }, seconds) {
  const step = functions > 0 ? `${compiled} of ${functions} functions compiled` : isLoading ? "loading" : "waiting for other opponents";
  return `Preparing ${label}: ${step}, ${Math.round(seconds)} s. Until it is ready, a simple opponent moves.`;
}

// Who moved while another player was being prepared.
const SIMPLE = "a simple opponent";

// Why a match does not count; empty if it does.
/** @type {(match: MatchView) => string} */
export function aboutPractice({ is_practice: isPractice, stood_in: { length } }) {
  const moves = `${length} ${length === 1 ? "move" : "moves"}`;
  const reason = length > 0 ? `${capital(SIMPLE)} played ${moves} while the opponent was being prepared` : "Practice";
  return isPractice ? `${reason}: this match does not count.` : "";
}

// What the person can do after an error.
/** @type {(match: MatchView | null) => string} */
export function whatToDo(match) {
  if (match === null) {
    return "No match is open. Choose another opponent, or press New match.";
  }
  return match.result ?? (match.awaits_person ? yourTurn(match) : "Press Undo or New match.");
}

/** @type {(match: MatchView) => string} */
function yourTurn(match) {
  return areTwoPeople(match.people) ? `${capital(match.seat_names[match.to_move ?? 0])} to move.` : "Your turn.";
}

/** @type {(text: string) => string} */
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// How an action was chosen, as the end of a sentence; empty if this is not known.
/** @type {(ply: PlyDescription) => string} */
const how = ({ is_random, reason }) => (is_random ? " at random" : reason === null ? "" : `: ${reason}`);

/** @type {(match: MatchView, before: number) => string} */
export function whatHappened(match, before) {
  const words = [...match.plies.entries()].slice(before).flatMap(([number, ply]) => {
    const player = match.seats[ply.seat];
    const name = match.stood_in.includes(number) ? capital(SIMPLE) : areWatching(match.people) ? `${capital(match.seat_names[ply.seat])}, ${player?.label},` : player?.label;
    if (ply.is_forced) {
      return [player === null ? (areTwoPeople(match.people) ? `${capital(match.seat_names[ply.seat])} can only pass.` : "You can only pass.") : `${name} can only pass.`];
    }
    return player === null ? [] : [`${name} plays ${ply.name}${how(ply)}.`];
  });
  if (match.result !== null) {
    words.push(match.result);
  } else if (match.count) {
    words.push(`Without dead stones: ${match.counted ?? "…"}`);
  } else if (areWatching(match.people)) {
    words.push(match.plies.length === 0 ? "Press Run, or Step for one move." : "");
  } else {
    const hasMoved = match.plies.some((ply) => ply.by_person && !ply.is_forced);
    const isKnown = areTwoPeople(match.people) || (words.length > 0 && hasMoved);
    words.push(isKnown ? yourTurn(match) : `Your turn: you are ${match.seat_names[match.person_seat ?? 0]}.`);
  }
  return words.join(" ").trim();
}

// Who has to agree on dead stones, and how they are changed.
/** @type {(match: MatchView) => string} */
export function countRule({ person_seat: seat, seats }) {
  const other = seat === null ? null : seats[1 - seat];
  const rule = other === null ? "Agree if both of you do." : `${other.label} agrees to its own proposal and to changes in its favour; for more, play on and capture.`;
  return `Click a chain to mark it as dead or alive. ${rule}`;
}

// Wins of the person, or of who moves first, and of the other; empty before the first end of a match.
/** @type {(match: MatchView, results: number[]) => string} */
export function scoreText(match, [one, other, drawn]) {
  if (one + other + drawn === 0) {
    return "";
  }
  const first = match.person_seat ?? 0;
  return `${nameOf(match, first)} ${one} : ${other} ${nameOf(match, 1 - first)}${drawn > 0 ? `, ${drawn} drawn` : ""}`;
}

// The number of stones until the lead and territory mean something; 0 or less if they do.
/** @type {(game: GameView, match: Pick<MatchView, "squares">) => number} */
export function stonesMissing({ lead_counts_from: share }, { squares }) {
  const stones = squares?.filter((stone) => stone !== 0).length ?? 0;
  return Math.ceil(share * (squares?.length ?? 0)) - stones;
}

// The points of a seat; if only the lead is known, this beside the player who is ahead, once it means something.
/** @type {(game: GameView, match: MatchView, seat: number) => string} */
export function pointsText(game, match, seat) {
  const { points, lead, to_move: toMove } = match;
  if (points !== null) {
    return String(points[seat]);
  }
  if (toMove !== null && stonesMissing(game, match) > 0) {
    return "";
  }
  const ahead = (lead ?? 0) * (seat === 0 ? 1 : -1);
  return ahead > 0 ? `+${ahead}` : "";
}

/** @type {(match: MatchView, hint: HintView) => string} */
export function aboutHint({ judge, point_name: points }, { in_points: inPoints, source, text, value, words }) {
  const estimated = inPoints ? `${valueText(value, { inPoints, neutral: 0, span: null })} ${points}` : valueText(value, judge);
  return words === null ? `${source} would play ${text} here (value ${estimated}).` : `${source}: ${text} ${words}.`;
}

/** @type {(hint: HintView) => string} */
export const aboutLine = ({ line_names: names }) => (names.length > 1 ? ` Best line: ${names.join(names.some((name) => name.includes(" ")) ? "; " : " ")}.` : "");

/** @type {[string, string][]} */
const GRADES = [["blunder", "blunders"], ["mistake", "mistakes"], ["inaccuracy", "inaccuracies"]];

// How a match went: the mistakes of the only person, and when it was decided; empty while the best values of a choice are not
// known. match: with these values; judged: the same by the number of plies before each position.
/** @type {(match: MatchView, judged: Map<number, Judged>) => string} */
export function aboutCourse(match, judged) {
  const isUnknown = match.plies.some(({ is_forced: isForced }, ply) => !isForced && !judged.get(ply)?.isComplete);
  if (match.person_seat === null || !match.is_over || isUnknown) {
    return "";
  }
  const chosen = choicesOfPerson(match);
  const grades = chosen.map((ply) => gradeOf(match, ply));
  const counts = GRADES.map(([one, several]) => ({ count: grades.filter((grade) => grade === one).length, one, several }));
  const named = counts.filter(({ count }) => count > 0).map(({ count, one, several }) => `${count} ${count === 1 ? one : several}`);
  const decided = decisiveMove(match, judged);
  const mistakes = named.length > 0 ? named.join(", ") : isLostByPerson(match, judged) ? costliestMove(match, chosen) : "no mistakes";
  return [capital(mistakes), notJudged(match), decided === null ? "" : `decided at move ${decided}`].filter(Boolean).join("; ") + ".";
}

/** @type {(match: MatchView) => PlyDescription[]} */
const choicesOfPerson = ({ plies }) => plies.filter((ply) => ply.by_person && !ply.is_forced);

// How many moves of the person the judge did not value; empty if there is none. match: with the values of the judge.
/** @type {(match: MatchView) => string} */
export function notJudged(match) {
  const count = choicesOfPerson(match).filter(({ value }) => value === null).length;
  return count === 0 ? "" : `${count} ${count === 1 ? "move" : "moves"} not judged`;
}

// The result of a position with perfect play to its player, if it is proved: 1, 0 or -1; null if not.
/** @type {(judged: Judged | undefined) => number | null} */
function provedResult(judged) {
  const all = [...(judged?.known.values() ?? [])];
  const best = all.reduce((one, other) => (Number(other.value) > Number(one.value) ? other : one), all[0]);
  const isProved = best !== undefined && (judged?.isExact || (best.words !== null && Number(best.value) > 0));
  return isProved ? Math.sign(Number(best.value)) : null;
}

// Whether the person lost a match that was not lost from the first choice on.
/** @type {(match: MatchView, judged: Map<number, Judged>) => boolean} */
function isLostByPerson({ plies, winner, person_seat: person }, judged) {
  const first = plies.findIndex((ply) => ply.by_person && !ply.is_forced);
  return winner === 1 - Number(person) && provedResult(judged.get(first)) !== -1;
}

// Which move lost most, where none is clearly a mistake.
/** @type {(match: MatchView, chosen: PlyDescription[]) => string} */
function costliestMove({ plies }, chosen) {
  const lossOf = (/** @type {PlyDescription} */ ply) => Number(ply.best?.value) - Number(ply.value);
  const known = chosen.filter((ply) => areComparable(ply, ply.best) && ply.name !== ply.best.name);
  const most = known.reduce((one, other) => (lossOf(other) > lossOf(one) ? other : one), known[0]);
  return most === undefined ? "no clear mistake" : `no clear mistake; move ${plies.indexOf(most) + 1}, ${most.name}, cost most (better: ${most.best?.name})`;
}

// The number of the last ply at which the result with perfect play became that of the match; null if it always was, or if it
// is not known.
/** @type {(match: MatchView, judged: Map<number, Judged>) => number | null} */
function decisiveMove({ plies, winner }, judged) {
  const result = winner === null ? 0 : winner === 0 ? 1 : -1;
  for (let ply = plies.length - 1; ply >= 0; ply -= 1) {
    if (!plies[ply].is_forced) {
      const proved = provedResult(judged.get(ply));
      if (proved === null || proved * (plies[ply].seat === 0 ? 1 : -1) !== result) {
        return proved === null ? null : ply + 1;
      }
    }
  }
  return null;
}

// What is shown while stepping through the moves: the last move of the position.
/** @type {(match: MatchView, cursor: number, verdict: string) => string} */
export function aboutPosition(match, cursor, verdict) {
  const ply = match.plies[cursor - 1];
  if (ply === undefined) {
    return "The first position.";
  }
  return `Move ${cursor} of ${match.plies.length}: ${match.seat_names[ply.seat]} (${match.stood_in.includes(cursor - 1) ? SIMPLE : whoIs(match, ply.seat)}) ${ply.is_forced ? "passes" : `plays ${ply.name}`}${verdict}.`;
}

/** @type {(kind: string, points: string) => string} */
const aboutKind = (kind, points) => (KINDS[kind] ?? "").replace("points", points);

/** @type {Record<string, string>} */
const KINDS = {
  results: "The result of each move with perfect play.",
  scores: "The exact score of each move with perfect play. A sooner win and a later loss score higher.",
  points: "Exact: the number of points by which each move wins or loses if both play perfectly.",
};

// What the values on the board mean; mode is the choice of the person.
// shown: {known, scale, judged, arePoints, isChoice}
/** @type {(match: MatchView, mode: Mode, shown: ValuesOfPosition & {arePoints: boolean, isChoice: boolean}) => string} */
export function valuesAbout(match, mode, { known, scale, judged, arePoints, isChoice }) {
  if (mode === "perfect") {
    return judged === null || !isChoice ? "" : aboutJudged(judged, match.point_name);
  }
  const adviser = adviserOf(match, match.to_move ?? 0);
  const values = [...known.values()];
  if (values.every(({ value }) => value === null)) {
    return mode !== "none" && isChoice ? noValues(match) : "";
  }
  if (arePoints || scale.isExact) {
    return aboutKind(arePoints ? "points" : "scores", match.point_name);
  }
  const whose = match.person_seat === match.to_move && match.person_seat !== null ? "you" : match.seat_names[match.to_move ?? 0];
  const unit = scale.inPoints ? `, in ${match.point_name}` : "";
  const share = values.every(({ share }) => share === null) ? "" : " Below it: the share of its simulations.";
  const isResultKnown = values.some(({ result }) => result !== null);
  const results = isResultKnown ? " Below it and as its colour: the result if both play perfectly." : "";
  const about = `The value of each move for ${whose}${unit}; above ${scale.neutral} is good.`;
  return `${about} It is estimated by ${adviser.label}, against ${adviser.values_hold}.${share}${results}`;
}

/** @type {(judged: Judged, points: string) => string} */
function aboutJudged({ kind, isExact, source, known, isComplete }, points) {
  if (!isExact) {
    return `The value of each move${kind === "points" ? `, in ${points}` : ""}, estimated by ${source}.`;
  }
  if (!isComplete) {
    return `${aboutKind(kind ?? "", points)} This position takes longer: it is still being solved.`;
  }
  const highest = Math.max(...[...known.values()].map(({ value }) => Number(value)));
  const best = [...known.values()].filter(({ value }) => value === highest);
  const names = best.map(({ name }) => name).join(", ");
  return aboutKind(kind ?? "", points) + (kind === "results" || best.length === 0 ? "" : ` Best: ${names} (${best[0].words}).`);
}

// The best moves in few words, or why none is known; mode as above.
/** @type {(match: MatchView, mode: Mode, shown: ValuesOfPosition) => string} */
export function aboutBest(match, mode, { known, scale, judged }) {
  const best = bestActions(known);
  const { value, words } = known.get(best[0]) ?? { value: null, words: null };
  if (value === null) {
    return mode === "adviser" && match.legal.length > 0 ? noValues(match) : "";
  }
  const names = best.map((action) => match.legal.find((one) => one.action === action)?.name);
  const more = names.length - MOST_BEST;
  const others = more > 0 ? ` and ${more} ${more === 1 ? "other" : "others"}` : "";
  const isPerfect = words !== null || judged?.isExact;
  const source = isPerfect ? "Perfect play" : mode === "perfect" && judged !== null ? judged.source : adviserOf(match, match.to_move ?? 0).label;
  const isWaiting = mode === "perfect" && judged?.isComplete === false;
  const worth = words ?? valueText(value, scale) + (scale.inPoints ? ` ${match.point_name}` : "");
  return `${source}: ${names.slice(0, MOST_BEST).join(", ")}${others} (${worth}).${isWaiting ? " Still being solved." : ""}`;
}

/** @type {(match: MatchView) => string} */
function noValues(match) {
  const { kind, label } = silentOf(match) ?? adviserOf(match, match.to_move ?? 0);
  return kind === "perfect" ? `${label} is still solving this position.` : `${label} does not estimate values.`;
}

// What the values of the curve are, and from which move on they are exact.
/** @type {(match: MatchView) => string} */
export function curveKind({ plies, point_name: points }) {
  const valued = plies.filter((ply) => ply.value !== null);
  const first = plies.findIndex((ply) => ply.words !== null);
  const unit = valued.every((ply) => ply.in_points) ? `, in ${points}` : "";
  if (valued.length === 0) {
    return "";
  }
  return valued.every((ply) => ply.words !== null) ? `— exact${unit}` : `— estimated${unit}${first < 0 ? "" : `; exact from move ${first + 1} on`}`;
}

// Who estimates them; empty if none is an estimate.
/** @type {(match: MatchView) => string} */
export function curveSource(match) {
  if (match.plies.every((ply) => ply.value === null || ply.words !== null)) {
    return "";
  }
  const advisers = new Set([0, 1].map((seat) => adviserOf(match, seat).label));
  return `The curve is estimated by ${advisers.size > 1 ? "the players" : [...advisers][0]}, and smoothed.`;
}

// ---------------------------------------------------------------------- messages

/** @type {(text: string) => void} */
export function say(text) {
  at("status").textContent = text;
}

// Says how far something is that follows by itself, after what was said last. It changes often, so screen readers are not told.
/** @type {(text: string) => void} */
export function sayProgress(text) {
  at("status").querySelector("span")?.remove();
  if (text !== "") {
    at("status").append(element("span", { class: "quiet", "aria-hidden": "true" }, ` ${text}`));
  }
}

/** @type {(error: any) => void} */
export function fail(error) {
  at("error").hidden = error === null;
  at("error").textContent = error === null ? "" : error.message;
  if (error !== null) {
    // On a phone, a button that failed may be far below.
    at("error").scrollIntoView({ block: "nearest" });
  }
}
