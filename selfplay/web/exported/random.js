// Random numbers as in selfplay/compute/random_numbers.py: a pure function of (key, match, ply, purpose).

const [GOLDEN_GAMMA, MIX_1, MIX_2] = [0x9e3779b97f4a7c15n, 0xbf58476d1ce4e5b9n, 0x94d049bb133111ebn];
export const [EXPLORE, RANDOM_ACTION, TIE_BREAK] = [0, 1, 7];

/** @type {(word: bigint) => bigint} */
const wrapped = (word) => BigInt.asUintN(64, word);

/** @type {(word: bigint) => bigint} */
function mix(word) {
  const one = wrapped((word ^ (word >> 30n)) * MIX_1);
  const other = wrapped((one ^ (one >> 27n)) * MIX_2);
  return other ^ (other >> 31n);
}

/** @type {(key: bigint, number: number) => bigint} */
const fold = (key, number) => mix(wrapped(key + (BigInt(number) + 1n) * GOLDEN_GAMMA));

// The random numbers of a ply: from a purpose to a number from 0 to below 1.
/** @type {(key: bigint, match: number, ply: number) => Draws} */
export const drawsOf = (key, match, ply) => (purpose) => Number([match, ply, purpose].reduce(fold, key) >> 11n) / 2 ** 53;

/** @type {<T>(choices: T[], uniform: number) => T} */
export const pick = (choices, uniform) => choices[Math.floor(uniform * choices.length)];
