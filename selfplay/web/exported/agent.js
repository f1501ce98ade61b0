// The learned values of positions: tables of patterns (selfplay/games/patterns.py), or the layers of a network, which may
// have a policy head.

import { bitsOf, observer } from "./game.js";
import { Layers } from "./layers.js";
import { packed as packPosition, phaseOf } from "./rules.js";

/** @type {Record<string, any>} */
const TYPES = { float16: Uint16Array, float32: Float32Array, int32: Int32Array };

// The number of each float16 word, which not every browser can read itself.
const HALVES = Float32Array.from({ length: 2 ** 16 }, (_, word) => {
  const [sign, exponent, fraction] = [word >> 15 ? -1 : 1, (word >> 10) & 31, word & 1023];
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
});

/** @type {(description: Description, address: URL) => Promise<Evaluation>} */
export async function loadAgent({ network, arrays, shown, limits }, address) {
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
      return [name, array];
    }),
  );
  return network.kind === "tables" ? new Tables(network, read, shown) : new Layers(network, read, observer({ shown, limits }, read.observation.length));
}

class Tables {
  /**
   * @param {TableNetwork} network
   * @param {{weights: Float32Array | Uint16Array, blocks: Int32Array, weight_of_entry?: Int32Array, offsets: Int32Array, added: Int32Array}} arrays
   * @param {number[]} shown
   */
  // `blocks`: for each block of weights, which of the blocks in `weights` it is. Without `weight_of_entry`, each entry
  // has a weight of its own, with the same number.
  constructor(network, { weights, blocks, weight_of_entry: weightOf, offsets, added }, shown) {
    const { phases, parities, squares } = network;
    this.network = network;
    this.weights = weights;
    this.blocks = blocks;
    // All would take long to convert, and few are looked up.
    this.areHalves = weights instanceof Uint16Array;
    this.weightOf = weightOf;
    this.offsets = offsets;
    this.entries = new Int32Array(offsets.length);
    this.sizes = [phases, squares, parities].map(BigInt);
    // The first bit of each plane of observations in packed positions.
    this.firstBits = shown.filter((_, entry) => entry % squares === 0).map(BigInt);
    // By word (0: the stones of the player who is not to move, 1: of the other, 2: marks) and square: the images that a
    // stone or a mark changes, and what it adds.
    const [images, words] = [[...offsets.keys()], [...Array(added.length / squares / offsets.length).keys()]];
    const at = (/** @type {number} */ word, /** @type {number} */ square, /** @type {number} */ image) => added[(word * squares + square) * offsets.length + image];
    this.changes = words.map((word) =>
      [...Array(squares).keys()].map((square) =>
        Int32Array.from(images.filter((image) => at(word, square, image) !== 0).flatMap((image) => [image, at(word, square, image)])),
      ),
    );
  }

  // The value to the player who is not to move.
  /** @type {(position: Position) => number} */
  value(position) {
    const { entries, weights, blocks, areHalves, weightOf, network, firstBits } = this;
    const packed = packPosition(position);
    const isSet = (/** @type {number} */ plane) => Number((packed >> firstBits[plane]) & 1n);
    const isTurned = network.upright >= 0 && isSet(network.upright) === 0;
    const boards = [0, 1, network.marks].slice(0, this.changes.length).map((plane) => BigInt.asUintN(network.squares, packed >> firstBits[plane]));
    entries.set(this.offsets);
    for (const [word, board] of boards.entries()) {
      for (const square of bitsOf(board)) {
        const changes = this.changes[word][isTurned ? network.squares - 1 - square : square];
        for (let place = 0; place < changes.length; place += 2) {
          entries[changes[place]] += changes[place + 1];
        }
      }
    }
    const set = network.sets.reduce((number, plane, place) => number + (isSet(plane) << place), 0);
    const row = set * network.phases + Number(phaseOf(boards[0], boards[1], ...this.sizes));
    const { block, weights_in_row } = network;
    const first = row * weights_in_row;
    let sum = 0;
    for (let image = 0; image < entries.length; image += 1) {
      const entry = entries[image];
      const number = first + (weightOf === undefined ? entry : weightOf[entry]);
      const weight = weights[block * blocks[Math.floor(number / block)] + (number % block)];
      sum += areHalves ? HALVES[weight] : weight;
    }
    return Math.tanh(sum);
  }
}
