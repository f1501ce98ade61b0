// After both players have passed, people say which stones are dead before the match is counted.

import { chainOf } from "./geometry.js";
import { ask } from "./review.js";
import { isShown, opened, state } from "./state.js";
import { fail, say, whatHappened } from "./words.js";

// Whether this is open on the board that is shown.
export const isCounting = () => state.ply === null && state.exercise === null && Boolean(state.answer?.count);

// Whether the opponent agrees: to its own proposal, and to what is no better for the person. Two people agree themselves.
export function isAccepted() {
  const { answer, proposed, isBusy } = opened();
  if (isBusy || proposed === null || answer.counted === null) {
    return false;
  }
  const gain = leadOf(answer) - proposed;
  return answer.person_seat === null || (answer.person_seat === 0 ? gain : -gain) <= 0;
}

// By how many points seat 0 leads without the stones that are marked.
/** @type {(answer: MatchView) => number} */
const leadOf = ({ count }) => count?.result.lead ?? 0;

// Looks for dead stones where both have passed.
export async function propose() {
  const { answer } = opened();
  if (!answer?.count) {
    return;
  }
  say("Both have passed. Looking for dead stones…");
  const dead = await ask({ show: ["dead"] }).then((found) => found.dead, (error) => isShown(answer) && (fail(error), []));
  await mark(answer, dead || []);
  if (isShown(answer)) {
    state.proposed = leadOf(answer);
    state.render();
  }
}

// Marks these stones as dead, and says how the match then ends.
/** @type {(answer: MatchView, dead: number[]) => Promise<void>} */
async function mark(answer, dead) {
  const isLatest = () => isShown(answer) && answer.count?.dead === dead;
  if (answer.count === null) {
    return;
  }
  // Until the answer comes, nobody can agree to its result.
  Object.assign(answer, { count: { ...answer.count, dead }, counted: null });
  state.render();
  try {
    const { match } = await ask({ dead, is_agreed: false });
    if (isLatest() && match.count !== null) {
      const { owners, result } = match.count;
      Object.assign(answer, { owners, lead: result.lead, points: result.points, count: { ...match.count, dead }, counted: match.counted });
      state.render();
      say(whatHappened(answer, answer.plies.length));
    }
  } catch (error) {
    if (isLatest()) {
      fail(error);
    }
  }
}

// Turns the chain on a square from alive to dead, or back.
/** @type {(square: number) => void} */
export function turn(square) {
  const { answer, game, proposed } = opened();
  const squares = answer?.squares ?? [];
  if (proposed === null || !squares[square]) {
    return;
  }
  const chain = chainOf(squares, game.columns ?? 0, square);
  const others = (answer.count?.dead ?? []).filter((one) => !chain.has(one));
  const isDead = answer.count?.dead.includes(square);
  mark(answer, isDead ? others : [...others, ...chain].sort((one, other) => one - other));
}
