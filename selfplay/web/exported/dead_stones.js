// Which stones of Go are dead where both players have passed, as selfplay/players/dead_stones.py finds them.

import { chainOf } from "../page/geometry.js";
import { drawsOf, RANDOM_ACTION, uniform } from "./random.js";

// The matches that are played on with each colour to move, and the share of its crossings that a living chain keeps in them.
const [PLAYOUTS, SURVIVAL] = [48, 0.5];

/** @typedef {import("./game.js").Game} Game */

// The squares of dead stones, in ascending order.
/** @type {(game: Game, state: GameState, columns: number, key: bigint) => number[]} */
export function deadStones(game, state, columns, key) {
  const squares = game.squares(state);
  if (!squares.some((stone) => stone !== 0)) {
    return [];
  }
  const survived = new Array(squares.length).fill(0);
  for (let match = 0; match < 2 * PLAYOUTS; match += 1) {
    const owners = ownersAfter(game, squares, match, key);
    squares.forEach((stone, square) => (survived[square] += Number(owners[square] === stone)));
  }
  const [safe, isDead] = [game.safe(state), new Map()];
  for (const [square, stone] of squares.entries()) {
    if (stone !== 0 && !isDead.has(square)) {
      const chain = chainOf(squares, columns, square);
      const kept = [...chain].reduce((sum, one) => sum + survived[one], 0);
      const is = !safe?.has(square) && kept < SURVIVAL * 2 * PLAYOUTS * chain.size;
      chain.forEach((one) => isDead.set(one, is));
    }
  }
  return [...squares.keys()].filter((square) => isDead.get(square));
}

// Who owns each crossing at the end of a match that is played on at random: 1, -1 or 0.
/** @type {(game: Game, squares: number[], match: number, key: bigint) => number[]} */
function ownersAfter(game, squares, match, key) {
  let state = game.setUp(squares, Number(match >= PLAYOUTS));
  for (let ply = 0; !state.isOver; ply += 1) {
    const free = game.sensible(state).filter((action) => action !== squares.length);
    const rank = Math.floor(uniform(drawsOf(key, match, ply)(RANDOM_ACTION)) * free.length);
    state = game.step(state, free[rank] ?? squares.length);
  }
  return game.owners(state) ?? [];
}
