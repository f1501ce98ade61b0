// The learned values of positions: tables of patterns (selfplay/games/patterns.py), or the layers of a network, which may
// have a policy head.

import { bitsOf, observer } from "./game.js";
import { Layers } from "./layers.js";
import { phaseOf } from "./rules.js";

/** @type {Record<string, any>} */
const TYPES = { float16: Uint16Array, float32: Float32Array, int32: Int32Array };

// The numbers of float16 words, which not every browser can read itself.
/** @type {(words: Uint16Array) => Float32Array} */
function fromHalves(words) {
  const numbers = Float32Array.from({ length: 2 ** 16 }, (_, word) => {
    const [sign, exponent, fraction] = [word >> 15 ? -1 : 1, (word >> 10) & 31, word & 1023];
    return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
  });
  return new Float32Array(words).map((word) => numbers[word]);
}

/** @type {(description: Description, address: URL) => Promise<Evaluator>} */
export async function loadAgent({ network, arrays, shown }, address) {
  const response = await fetch(address);
  if (!response.ok) {
    throw new Error(`${response.status} for ${address.pathname}`);
  }
  const bytes = await new Response(response.body?.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  let offset = 0;
  /** @type {any} */
  const read = Object.fromEntries(
    arrays.map(({ name, type, length }) => {
      const array = new TYPES[type](bytes, offset, length);
      offset += array.byteLength;
      return [name, type === "float16" ? fromHalves(array) : array];
    }),
  );
  return network.kind === "tables" ? new Tables(network, read) : new Layers(network, read, observer(shown, network.shape.reduce((size, one) => size * one)));
}

class Tables {
  /**
   * @param {{phases: number, parities: number, squares: number}} network
   * @param {{weights: Float32Array, weight_of_entry?: Int32Array, offsets: Int32Array, added: Int32Array}} arrays
   */
  // Without `weight_of_entry`, each entry has a weight of its own, with the same number.
  constructor({ phases, parities, squares }, { weights, weight_of_entry: weightOf, offsets, added }) {
    this.weights = weights;
    this.weightOf = weightOf;
    this.offsets = offsets;
    this.entries = new Int32Array(offsets.length);
    this.sizes = [phases, squares, parities].map(BigInt);
    this.weightsOfPhase = weights.length / phases;
    // By player (0: the one who is not to move) and square: the images that a stone changes, and what it adds.
    const images = [...offsets.keys()];
    const at = (/** @type {number} */ player, /** @type {number} */ square, /** @type {number} */ image) => added[(player * squares + square) * offsets.length + image];
    this.changes = [0, 1].map((player) =>
      [...Array(squares).keys()].map((square) =>
        Int32Array.from(images.filter((image) => at(player, square, image) !== 0).flatMap((image) => [image, at(player, square, image)])),
      ),
    );
  }

  // The value to the player who is not to move.
  /** @type {(position: Position) => number} */
  value({ own, opp }) {
    const { entries, weights, weightOf } = this;
    entries.set(this.offsets);
    for (const [player, word] of [opp, own].entries()) {
      for (const square of bitsOf(word)) {
        const changes = this.changes[player][square];
        for (let place = 0; place < changes.length; place += 2) {
          entries[changes[place]] += changes[place + 1];
        }
      }
    }
    const first = Number(phaseOf(opp, own, ...this.sizes)) * this.weightsOfPhase;
    let sum = 0;
    for (let image = 0; image < entries.length; image += 1) {
      const entry = entries[image];
      sum += weights[first + (weightOf === undefined ? entry : weightOf[entry])];
    }
    return Math.tanh(sum);
  }
}
