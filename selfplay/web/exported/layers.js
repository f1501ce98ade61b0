// A network as the layers that selfplay/web/exported_network.py lists. A layer is a function from an array to an array,
// both in the order of torch: one plane after another, each row by row. Most layers use the array of their outputs again
// in the next call.
//
// Linear layers and convolutions are the same sums. For each place, the sum of weight * input is taken over the same taps:
// a linear layer has one place, and all its inputs are taps; a convolution has a place for each square. Four outputs in
// two places are summed at a time, so that each input is read once for four products, and each weight for two. All
// numbers are float64, which JavaScript computes with.

/** @typedef {(inputs: Float64Array) => Float64Array} Layer */
/** @typedef {Record<string, Float32Array>} Weights */

const OUTPUTS = 4;

/** @implements {Evaluator} */
export class Layers {
  /**
   * @param {LayerNetwork} network
   * @param {Weights} weights
   * @param {(position: Position) => number[]} observe
   */
  constructor({ shape, trunk, value, policy }, weights, observe) {
    this.trunk = sequence(trunk, weights, shape);
    this.valueHead = sequence(value, weights, shape);
    this.policyHead = sequence(policy ?? [], weights, shape);
    this.observe = observe;
  }

  // The value to the player who is not to move.
  /** @type {(position: Position) => number} */
  value(position) {
    return this.valueHead(this.#features(position))[0];
  }

  // The value to the player to move, and the logits of the actions.
  /** @type {(position: Position) => {value: number, logits: number[]}} */
  evaluation(position) {
    const features = this.#features(position);
    return { value: -this.valueHead(features)[0], logits: [...this.policyHead(features)] };
  }

  /** @type {(position: Position) => Float64Array} */
  #features(position) {
    return this.trunk(Float64Array.from(this.observe(position)));
  }
}

// shape: of the observations, whose last two sizes are the rows and columns of all planes.
/** @type {(layers: LayerDescription[], weights: Weights, shape: number[]) => Layer} */
function sequence(layers, weights, shape) {
  const steps = layers.map((layer) => layerOf(layer, weights, shape));
  return (inputs) => steps.reduce((outputs, step) => step(outputs), inputs);
}

/** @type {(layer: LayerDescription, weights: Weights, shape: number[]) => Layer} */
function layerOf(layer, weights, shape) {
  switch (layer.kind) {
    case "relu":
      return relu();
    case "tanh":
      return (inputs) => inputs.map(Math.tanh);
    case "residual": {
      const added = sequence(layer.added, weights, shape);
      return (inputs) => addedTo(added(inputs), inputs);
    }
    case "pool":
      return pool(shape[shape.length - 2] * shape[shape.length - 1]);
    case "joined": {
      const parts = layer.parts.map((part) => sequence(part, weights, shape));
      return (inputs) => Float64Array.from(parts.flatMap((part) => [...part(inputs)]));
    }
    case "linear":
      return linear(weights[layer.weights], weights[`${layer.weights}_biases`]);
    case "convolution": {
      const [rows, columns] = shape.slice(-2);
      return convolution(weights[layer.weights], weights[`${layer.weights}_biases`], layer.size, rows, columns);
    }
  }
}

/** @type {() => Layer} */
function relu() {
  let outputs = new Float64Array(0);
  return (inputs) => {
    if (outputs.length !== inputs.length) {
      outputs = new Float64Array(inputs.length);
    }
    for (let place = 0; place < inputs.length; place += 1) {
      outputs[place] = Math.max(0, inputs[place]);
    }
    return outputs;
  };
}

// The mean of each plane, then the largest number of each.
/** @type {(squares: number) => Layer} */
function pool(squares) {
  return (inputs) => {
    const planes = inputs.length / squares;
    const outputs = new Float64Array(2 * planes);
    for (let plane = 0; plane < planes; plane += 1) {
      const numbers = inputs.subarray(plane * squares, (plane + 1) * squares);
      outputs[plane] = numbers.reduce((sum, number) => sum + number) / squares;
      outputs[planes + plane] = Math.max(...numbers);
    }
    return outputs;
  };
}

/** @type {(sums: Float64Array, inputs: Float64Array) => Float64Array} */
function addedTo(sums, inputs) {
  for (let place = 0; place < inputs.length; place += 1) {
    sums[place] += inputs[place];
  }
  return sums;
}

/** @type {(weights: Float32Array, biases: Float32Array) => Layer} */
function linear(weights, biases) {
  const taps = Int32Array.from({ length: weights.length / biases.length }, (_, input) => input);
  return sums(weights, biases, Int32Array.of(0), taps);
}

// A convolution of size x size squares. Zeros around the planes stand for the squares beyond the board.
/** @type {(weights: Float32Array, biases: Float32Array, size: number, rows: number, columns: number) => Layer} */
function convolution(weights, biases, size, rows, columns) {
  const border = (size - 1) / 2;
  const [height, width] = [rows + 2 * border, columns + 2 * border];
  const squares = Int32Array.from({ length: rows * columns }, (_, square) => Math.floor(square / columns) * width + (square % columns));
  const taps = Int32Array.from({ length: weights.length / biases.length }, (_, tap) => {
    const [plane, row] = [Math.floor(tap / (size * size)), Math.floor(tap / size) % size];
    return (plane * height + row) * width + (tap % size);
  });
  const planes = taps.length / (size * size);
  const padded = new Float64Array(planes * height * width);
  const summed = sums(weights, biases, squares, taps);
  return (inputs) => {
    for (let plane = 0; plane < planes; plane += 1) {
      const start = (plane * height + border) * width + border;
      for (let square = 0; square < squares.length; square += 1) {
        padded[start + squares[square]] = inputs[plane * squares.length + square];
      }
    }
    return summed(padded);
  };
}

/** @type {(weights: Float32Array, biases: Float32Array, places: Int32Array, taps: Int32Array) => Layer} */
function sums(weights, biases, places, taps) {
  const filledUp = OUTPUTS * Math.ceil(biases.length / OUTPUTS);
  const grouped = new Float64Array(filledUp * taps.length);
  weights.forEach((weight, number) => {
    const [output, tap] = [Math.floor(number / taps.length), number % taps.length];
    const within = output % OUTPUTS;
    grouped[(output - within) * taps.length + tap * OUTPUTS + within] = weight;
  });
  const starts = new Float64Array(filledUp);
  starts.set(biases);
  const outputs = new Float64Array(filledUp * places.length);
  const found = outputs.subarray(0, biases.length * places.length);
  return (inputs) => {
    addUp(inputs, grouped, starts, places, taps, outputs);
    return found;
  };
}

// For each output and place: start + the sum of weight * inputs[place + tap] over all taps. The weights are ordered by group
// of four outputs, tap and output. A last place without a partner is summed twice.
/** @type {(inputs: Float64Array, weights: Float64Array, starts: Float64Array, places: Int32Array, taps: Int32Array, outputs: Float64Array) => void} */
function addUp(inputs, weights, starts, places, taps, outputs) {
  const [numPlaces, numTaps] = [places.length, taps.length];
  for (let first = 0; first < starts.length; first += OUTPUTS) {
    for (let here = 0; here < numPlaces; here += 2) {
      const there = Math.min(here + 1, numPlaces - 1);
      const [place, other] = [places[here], places[there]];
      let [a, b, c, d] = [starts[first], starts[first + 1], starts[first + 2], starts[first + 3]];
      let [e, f, g, h] = [a, b, c, d];
      let at = first * numTaps;
      for (let number = 0; number < numTaps; number += 1) {
        const tap = taps[number];
        const input = inputs[place + tap];
        const beside = inputs[other + tap];
        const one = weights[at];
        const two = weights[at + 1];
        const three = weights[at + 2];
        const four = weights[at + 3];
        a += input * one;
        b += input * two;
        c += input * three;
        d += input * four;
        e += beside * one;
        f += beside * two;
        g += beside * three;
        h += beside * four;
        at += OUTPUTS;
      }
      let row = first * numPlaces;
      for (const [sum, sumBeside] of [[a, e], [b, f], [c, g], [d, h]]) {
        outputs[row + here] = sum;
        outputs[row + there] = sumBeside;
        row += numPlaces;
      }
    }
  }
}
