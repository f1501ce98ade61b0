// Shows a match: its board, who plays, values and moves.

import { areTwoPeople } from "./address.js";
import { evaluationBar, shareOf } from "./bar.js";
import { showControls } from "./controls.js";
import { isCounting } from "./counting.js";
import { drawCurve, drawLosses } from "./curve.js";
import { at, checked, element } from "./drawing.js";
import { keepInSight, showMoves } from "./moves_view.js";
import { stoneOf } from "./pieces.js";
import { canVary, cursor, isVariation, lineShown, matchItself, onBoard, opened, parting, position, results, state, valued, wantsJudge } from "./state.js";
import { showAboutTerritory, territory } from "./territory.js";
import { isExactPoints, RESULT_SCALE, valuesToShow, valueText } from "./values.js";
import { aboutBest, aboutPractice, aboutRecord, capital, countRule, curveKind, curveSource, nameOf, pointsText, scoreText, valuesAbout } from "./words.js";

const FACES = ["play", "analyse"];

// Draws the state; goTo: shows the position after a number of plies; goToIn: the same in the match or in the variation.
/** @type {(goTo: GoTo, goToIn: (isOfMatch: boolean) => GoTo) => void} */
export function showMatch(goTo, goToIn) {
  const { game, answer, isBusy, isEdited } = opened();
  document.body.dataset.busy = String(isBusy);
  at("board").classList.toggle("waiting", isBusy);
  at("play").classList.toggle("edited", isEdited);
  showFace();
  showControls();
  if (state.answer === null || isEdited) {
    return;
  }
  const ply = cursor();
  document.body.dataset.plies = String(answer.plies.length);
  at("play").classList.toggle("reviewed", ply < answer.plies.length && state.exercise === null);
  at("play").classList.toggle("learning", state.exercise !== null);
  showBoard();
  showSeats(game, answer, onBoard());
  at("count-rule").hidden = !isCounting();
  at("count-rule").textContent = countRule(answer);
  at("score").textContent = scoreText(answer, results());
  at("standing").textContent = [aboutPractice(matchItself().answer), answer.standing ?? ""].join(" ").trim();
  showRecord(answer, ply);
  at("aim").hidden = answer.plies.length > 0;
  at("aim").textContent = game.aim;
  at("opening").hidden = answer.opening === null;
  at("opening").textContent = `${answer.opening} opening`;
  const match = valued();
  // In an exercise, values would be the solution, and steps follow the best line.
  const isValued = state.face === "analyse" && checked("values") !== "none" && state.exercise === null;
  showLines({ isValued, goToIn: state.exercise === null ? goToIn : () => () => {} });
  if (state.face === "analyse") {
    drawCurve(at("curve"), { game, match, cursor: ply, isWaiting: wantsJudge(), goTo });
    drawLosses(at("discs-lost"), { game, match });
    at("curve-kind").textContent = curveKind(match);
    at("curve-source").textContent = curveSource(match);
    at("grades").textContent = game.grades;
  }
}

// The moves of the match, and below them those of the variation.
/** @type {(options: {isValued: boolean, goToIn: (isOfMatch: boolean) => GoTo}) => void} */
function showLines({ isValued, goToIn }) {
  const [ply, shared, { beside }] = [cursor(), parting(), state];
  const isInMatch = !isVariation() || ply <= shared;
  showMoves(at("plies"), valued(matchItself()), { cursor: isInMatch ? ply : null, isValued, goTo: goToIn(true) });
  at("variation-plies").hidden = beside === null || state.face !== "analyse";
  if (beside !== null) {
    const variation = valued(isVariation() ? lineShown() : beside);
    showMoves(at("variation-plies"), variation, { cursor: isInMatch ? null : ply, first: shared, isValued, goTo: goToIn(false) });
  }
  keepInSight(at("plies").parentElement);
}

// What is known of a match that was loaded, and the comment on the position that is shown.
/** @type {(answer: MatchView, ply: number) => void} */
function showRecord(answer, ply) {
  const { record } = state;
  const comment = record !== null && ply <= record.plies ? (record.comments[ply] ?? "") : "";
  at("record").textContent = record === null ? "" : aboutRecord(answer, record);
  at("comment").textContent = comment;
}

function showFace() {
  at("play").dataset.face = state.face;
  for (const face of FACES) {
    const isShown = face === state.face;
    at(`face-${face}`).hidden = !isShown;
    at(`tab-${face}`).setAttribute("aria-selected", String(isShown));
    at(`tab-${face}`).tabIndex = isShown ? 0 : -1;
  }
}

// The values that are shown: in an exercise they would be the solution, and while a line is stepped through nobody has to choose.
/** @type {() => Mode} */
function modeOfValues() {
  const { exercise, line, face } = state;
  if (exercise !== null) {
    return exercise.isSolved && (line === null || line.step === 0) ? "perfect" : "none";
  }
  return face === "analyse" ? checked("values") : "none";
}

function showBoard() {
  const { board, answer, foreseen, hint, hintLine, line, isBusy, isTakingOver, isEdited, exercise } = opened();
  const ply = cursor();
  const shown = onBoard();
  const mode = modeOfValues();
  const judged = state.judged.get(ply) ?? null;
  const { known, scale } = valuesToShow(mode, position(), judged);
  const isLast = ply === answer.plies.length;
  // An action that is chosen while an opponent takes over is played afterwards.
  const isFree = !isBusy || isTakingOver;
  const isOpen = exercise === null ? (isLast && answer.awaits_person && isFree) || canVary() : !isLast && !exercise.isSolved;
  const isInLine = line !== null && line.step > 0;
  const ghost = exercise === null || isInLine ? null : (answer.plies[ply]?.action ?? null);
  board.show({
    match: { ...shown, person_seat: matchItself().answer.person_seat, squares: shown.squares ?? [], ...foreseen },
    known: foreseen === null ? known : new Map(),
    scale,
    isOpen,
    isEdited,
    hint: isInLine ? null : hint,
    line: isInLine || hint === null ? [] : hintLine,
    ghost,
    territory: isInLine ? null : territory(),
  });
  showAboutTerritory();
  if (!isBusy) {
    // While the opponent thinks they stay, so that what is below them does too.
    const arePoints = mode === "adviser" && ((shown.values_in_points && shown.legal.some(({ words }) => words !== null)) || shown.plies.some(isExactPoints));
    const isChoice = isOpen || !isLast;
    at("values-about").textContent = valuesAbout(shown, mode, { known, scale, judged, arePoints, isChoice });
    at("legend").hidden = !scale.isResult && !scale.isExact && [...known.values()].every(({ result }) => result === null);
    at("best").textContent = mode === "none" ? "" : aboutBest(position(), mode, { known, scale, judged });
    if (!isInLine) {
      showBar({ known, scale, judged });
    }
  }
}

// ---------------------------------------------------------------------- who plays

// Who held a seat in the match that was loaded, in the positions of it that two people look at; empty if it does not say.
/** @type {(seat: number) => string} */
function recordedName(seat) {
  const { answer, record } = opened();
  return record !== null && areTwoPeople(answer.people) && cursor() <= record.plies ? record.players[seat] : "";
}

// The seat at the bottom of the board: that of the only person, or of who moves first.
const bottomOf = () => matchItself().answer.person_seat ?? 0;

/** @type {(game: GameView, answer: MatchView, shown: MatchView) => void} */
function showSeats(game, answer, shown) {
  const below = bottomOf();
  const plain = { isNew: false, isTurned: false, isGhost: false };
  for (const [id, seat] of Object.entries({ above: 1 - below, below })) {
    const stone = game.rows === null ? [] : [stoneOf(game, seat, plain)];
    const points = pointsText(game, shown, seat);
    const count = points === "" ? [] : [element("b", { class: "count" }, points)];
    const prisoners = shown.captured?.[seat] ?? 0;
    const captured = prisoners === 0 ? [] : [element("span", { class: "captured" }, stoneOf(game, 1 - seat, plain), String(prisoners), element("span", { class: "hidden" }, " captured"))];
    const colour = capital(answer.seat_names[seat]);
    const name = recordedName(seat) || nameOf(answer, seat);
    const hidden = name === colour ? [] : [element("span", { class: "hidden" }, ` (${answer.seat_names[seat]})`)];
    at(id).replaceChildren(...stone, element("span", { class: "name" }, name, ...hidden), ...count, ...captured);
    at(id).parentElement.classList.toggle("turn", shown.to_move === seat);
  }
}

// ---------------------------------------------------------------------- the evaluation bar

/** @type {(shown: ValuesOfPosition) => void} */
function showBar({ known, scale, judged }) {
  const { game } = opened();
  at("bar").hidden = state.face !== "analyse" || checked("values") === "none" || (state.exercise !== null && !state.exercise.isSolved);
  const below = bottomOf();
  const colourOf = (/** @type {number} */ seat) => game.stone_colours?.[seat] ?? `seat${seat}`;
  at("bar").replaceChildren(evaluationBar({ ...evaluationFor(below, { known, scale, judged }), bottom: colourOf(below), top: colourOf(1 - below) }));
}

// The share of the bar, and the value of the position, for a seat.
/** @type {(seat: number, shown: ValuesOfPosition) => {share: number | null, text: string, short?: string}} */
function evaluationFor(seat, { known, scale, judged }) {
  const { answer } = opened();
  const shown = position();
  if (answer.is_over && cursor() === answer.plies.length) {
    const share = answer.winner === null ? 0 : answer.winner === seat ? 1 : -1;
    return { share, text: valueText(share, RESULT_SCALE), short: shortResult(share) };
  }
  const values = [...known.values()].flatMap(({ value }) => (value === null ? [] : [value]));
  if (values.length === 0) {
    return { share: null, text: "" };
  }
  const neutral = scale.neutral ?? 0;
  const lead = (shown.to_move === seat ? 1 : -1) * (Math.max(...values) - neutral);
  const kind = scale.isResult ? "results" : scale.inPoints || shown.values_in_points || judged?.kind === "points" ? "points" : scale.isExact ? "scores" : null;
  const share = shareOf(kind === null ? neutral + lead : lead, { kind, neutral, span: scale.span });
  return { share, text: valueText(neutral + lead, scale), short: kind === "results" ? shortResult(share) : valueText(neutral + lead, scale, 1) };
}

// It stands at the side of the winner.
/** @type {(share: number) => string} */
const shortResult = (share) => (share === 0 ? "draw" : "win");
