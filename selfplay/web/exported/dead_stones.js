// Which stones of Go are dead where both players have passed, as selfplay/players/dead_stones.py finds them.

import { chainOf } from "../page/geometry.js";
import { drawsOf, RANDOM_ACTION, uniform } from "./random.js";

/** @typedef {import("./game.js").Game} Game */

// The squares of dead stones, in ascending order.
/** @type {(game: Game, state: GameState, description: Description) => number[]} */
export function deadStones(game, state, { view: { columns }, key: stream, dead_stones: { playouts, survival } }) {
  const [key, squares] = [BigInt(stream), game.squares(state)];
  if (!squares.some((stone) => stone !== 0)) {
    return [];
  }
  const survived = new Array(squares.length).fill(0);
  for (let match = 0; match < 2 * playouts; match += 1) {
    const owners = ownersAfter(game, game.setUp(squares, Number(match >= playouts)), (ply) => drawsOf(key, match, ply));
    squares.forEach((stone, square) => (survived[square] += Number(owners[square] === stone)));
  }
  const [safe, isDead] = [game.safe(state), new Map()];
  for (const [square, stone] of squares.entries()) {
    if (stone !== 0 && !isDead.has(square)) {
      const chain = chainOf(squares, columns, square);
      const kept = [...chain].reduce((sum, one) => sum + survived[one], 0);
      const is = !safe?.has(square) && kept < survival * 2 * playouts * chain.size;
      chain.forEach((one) => isDead.set(one, is));
    }
  }
  return [...squares.keys()].filter((square) => isDead.get(square));
}

// Who owns each crossing at the end of a match that is played on at random from this board, with the random numbers of each
// ply: 1, -1 or 0.
/** @type {(game: Game, start: GameState, drawsAt: (ply: number) => ReturnType<typeof drawsOf>) => number[]} */
function ownersAfter(game, start, drawsAt) {
  let state = start;
  const pass = game.numSquares;
  for (let ply = 0; !state.isOver; ply += 1) {
    const free = game.sensible(state).filter((action) => action !== pass);
    const rank = Math.floor(uniform(drawsAt(ply)(RANDOM_ACTION)) * free.length);
    state = game.step(state, free[rank] ?? pass);
  }
  return game.owners(state) ?? [];
}
