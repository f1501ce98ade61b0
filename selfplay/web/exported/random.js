// Random numbers as in selfplay/compute/random_numbers.py: a pure function of (key, match, ply, purpose).

const [GOLDEN_GAMMA, MIX_1, MIX_2] = [0x9e3779b97f4a7c15n, 0xbf58476d1ce4e5b9n, 0x94d049bb133111ebn];
export const [RANDOM_ACTION, SAMPLED_ACTION, TIE_BREAK, LEAF, NOTICE] = [1, 2, 7, 14, 17];

/** @type {(word: bigint) => bigint} */
const wrapped = (word) => BigInt.asUintN(64, word);

/** @type {(word: bigint) => bigint} */
function mix(word) {
  const one = wrapped((word ^ (word >> 30n)) * MIX_1);
  const other = wrapped((one ^ (one >> 27n)) * MIX_2);
  return other ^ (other >> 31n);
}

// A key that also depends on a number.
/** @type {(key: bigint, number: number) => bigint} */
export const fold = (key, number) => mix(wrapped(key + (BigInt(number) + 1n) * GOLDEN_GAMMA));

// The random numbers of a ply: from a purpose to 64 random bits.
/** @type {(key: bigint, match: number, ply: number) => Draws} */
export const drawsOf = (key, match, ply) => (purpose) => [match, ply, purpose].reduce(fold, key);

// A number from 0 to below 1.
/** @type {(bits: bigint) => number} */
export const uniform = (bits) => Number(bits >> 11n) / 2 ** 53;

// An integer from 0 to below a bound.
/** @type {(bits: bigint, bound: number) => number} */
export const below = (bits, bound) => Number(((bits >> 33n) * BigInt(bound)) >> 31n);

/** @type {<T>(choices: T[], bits: bigint) => T} */
export const pick = (choices, bits) => choices[Math.floor(uniform(bits) * choices.length)];
