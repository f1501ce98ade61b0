// A network as a LayerProgram (architectures/layer_program.py): steps that read from a memory and write into it, as in
// selfplay/compute/layer_steps.py, but with numbers of float64, which JavaScript computes with. Sums are taken in the
// same order.

/** @typedef {{memory: Float64Array, weights: Float64Array, indices: Int32Array, group: number}} Program */

/** @implements {Evaluator} */
export class Layers {
  /**
   * @param {LayerNetwork} network
   * @param {{weights: Float32Array, indices: Int32Array, observation: Int32Array, logits: Int32Array}} arrays
   * @param {(position: Position) => number[]} observe
   */
  constructor({ steps, group, memory, value }, { weights, indices, observation, logits }, observe) {
    this.steps = steps;
    this.program = { memory: new Float64Array(memory), weights: Float64Array.from(weights), indices, group };
    this.places = { observation, value, logits };
    this.observe = observe;
  }

  // The value to the player who is not to move.
  /** @type {(position: Position) => number} */
  value(position) {
    const { memory } = this.program;
    this.observe(position).forEach((entry, place) => (memory[this.places.observation[place]] = entry));
    this.steps.forEach((step) => RUN[step.kind](step, this.program));
    return memory[this.places.value];
  }

  // The value to the player to move, and the logits of the actions.
  /** @type {(position: Position) => {value: number, logits: number[]}} */
  evaluation(position) {
    return { value: -this.value(position), logits: Array.from(this.places.logits, (place) => this.program.memory[place]) };
  }
}

// By the kind of a step.
/** @type {((step: LayerStep, program: Program) => void)[]} */
const RUN = [products, activation((number) => Math.max(0, number)), activation(Math.tanh), pool, actions, spread];

// For each output and place: the sum of weight * input over all taps, and the bias. Four outputs in two places are summed at
// a time, so that each input is read once for four products, and each weight for two. A last place without a partner is
// summed twice.
/** @type {(step: LayerStep, program: Program) => void} */
function products(step, { memory, weights, indices, group }) {
  const { outputs, inputs, places, num_places: count, added, rectifies } = step;
  const [taps, lowest] = [indices.subarray(step.taps, step.taps + inputs), rectifies === 1 ? 0 : -Infinity];
  for (let output = 0; output < outputs; output += 4) {
    const column = step.weights + (output - (output % group)) * inputs + (output % group);
    const bias = step.weights + outputs * inputs + output;
    for (let place = places; place < places + count; place += 2) {
      const beside = Math.min(place + 1, places + count - 1);
      const [here, there] = [indices[place], indices[beside]];
      let [a, b, c, d] = [weights[bias], weights[bias + 1], weights[bias + 2], weights[bias + 3]];
      let [e, f, g, h] = [a, b, c, d];
      let at = column;
      for (let number = 0; number < inputs; number += 1) {
        const tap = taps[number];
        const input = memory[here + tap];
        const other = memory[there + tap];
        const one = weights[at];
        const two = weights[at + 1];
        const three = weights[at + 2];
        const four = weights[at + 3];
        a += input * one;
        b += input * two;
        c += input * three;
        d += input * four;
        e += other * one;
        f += other * two;
        g += other * three;
        h += other * four;
        at += group;
      }
      let target = indices[place + count] + output;
      let second = indices[beside + count] + output;
      for (const [sum, sumBeside] of [[a, e], [b, f], [c, g], [d, h]]) {
        memory[target] = Math.max(lowest, added === 0 ? sum : sum + memory[target + added]);
        memory[second] = Math.max(lowest, added === 0 ? sumBeside : sumBeside + memory[second + added]);
        target += 1;
        second += 1;
      }
    }
  }
}

/** @type {(changed: (number: number) => number) => (step: LayerStep, program: Program) => void} */
function activation(changed) {
  return ({ source, target, outputs }, { memory }) => {
    for (let place = 0; place < outputs; place += 1) {
      memory[target + place] = changed(memory[source + place]);
    }
  };
}

// The mean of each plane, then the largest number of each.
/** @type {(step: LayerStep, program: Program) => void} */
function pool({ source, target, outputs, places, num_places: count, rectifies }, { memory, indices }) {
  const lowest = rectifies === 1 ? 0 : -Infinity;
  for (let plane = 0; plane < outputs; plane += 1) {
    let [total, largest] = [0, -Infinity];
    for (let place = places; place < places + count; place += 1) {
      const number = Math.max(lowest, memory[source + indices[place] + plane]);
      total += number;
      largest = Math.max(largest, number);
    }
    memory[target + plane] = total / count;
    memory[target + outputs + plane] = largest;
  }
}

// Adds the number of each plane on all squares.
/** @type {(step: LayerStep, program: Program) => void} */
function spread({ source, target, outputs, places, num_places: count, rectifies }, { memory, indices }) {
  const lowest = rectifies === 1 ? 0 : -Infinity;
  for (let place = places; place < places + count; place += 1) {
    for (let plane = 0; plane < outputs; plane += 1) {
      const at = target + indices[place] + plane;
      memory[at] = Math.max(lowest, memory[at] + memory[source + plane]);
    }
  }
}

// For each action, the sum of its numbers over its places, negative ones as 0, times the weights, and the bias.
/** @type {(step: LayerStep, program: Program) => void} */
function actions({ target, outputs, inputs, weights: first, places, num_places: count }, { memory, weights, indices }) {
  for (let action = 0; action < outputs; action += 1) {
    const addresses = indices.subarray(places + action * count, places + (action + 1) * count);
    let total = weights[first + inputs];
    for (let number = 0; number < inputs; number += 1) {
      let sum = 0;
      for (let place = 0; place < count; place += 1) {
        sum += memory[addresses[place] + number];
      }
      total += weights[first + number] * Math.max(0, sum);
    }
    memory[target + action] = total;
  }
}
