// Which stones of Go are dead where both players have passed, and who can be expected to own each crossing, as
// selfplay/games/dead_stones.py finds them.

import { chainOf } from "../page/geometry.js";
import { drawsOf, RANDOM_ACTION, uniform } from "./random.js";

/** @typedef {import("./game.js").Game} Game */

// The squares of dead stones, in ascending order.
/** @type {(game: Game, state: GameState, description: Description) => number[]} */
export function deadStones(game, state, description) {
  const { view: { columns }, dead_stones: { playouts, survival } } = description;
  const squares = game.squares(state);
  if (!squares.some((stone) => stone !== 0)) {
    return [];
  }
  const survived = new Array(squares.length).fill(0);
  for (const owners of ownersAfterPlayouts(game, squares, description)) {
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

// By square: from 1 (always seat 0) to -1 (always seat 1).
/** @type {(game: Game, state: GameState, description: Description) => number[]} */
export function expectedTerritory(game, state, description) {
  const squares = game.squares(state);
  const all = ownersAfterPlayouts(game, squares, description);
  return squares.map((_, square) => Math.round((1000 * all.reduce((sum, owners) => sum + owners[square], 0)) / all.length) / 1000);
}

// Who owns each crossing at the end of each of the matches that are played on at random.
/** @type {(game: Game, squares: number[], description: Description) => number[][]} */
function ownersAfterPlayouts(game, squares, { key, dead_stones: { playouts } }) {
  const stream = BigInt(key);
  return [...Array(2 * playouts).keys()].map((match) => ownersAfter(game, game.setUp(squares, Number(match >= playouts)), (ply) => drawsOf(stream, match, ply)));
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
