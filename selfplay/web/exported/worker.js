// The requests of selfplay/web/match_service.py and games.py, answered in the browser, one after another.

import { loadAgent } from "./agent.js";
import { belowBest, Game } from "./game.js";
import { Match } from "./match.js";
import { Refusal } from "./played_match.js";
import { pick, RANDOM_ACTION, TIE_BREAK } from "./random.js";
import { evaluatorOf } from "./rollouts.js";
import { searched } from "./search.js";
import { nearlyBest, Strength } from "./strengths.js";
import { treeSearched } from "./tree_search.js";

/** @typedef {{description: Description, game: Game, participants: Map<string, Participant>}} Loaded */

/** @type {() => Promise<Loaded>} */
async function load() {
  const response = await fetch(new URL("./game.json", import.meta.url));
  /** @type {Description} */
  const description = await response.json();
  const game = new Game(description);
  const agent = await loadAgent(description, new URL("./agent.bin", import.meta.url));
  const participants = new Map(description.offer.opponents.map((offer) => [offer.id, { offer, consider: playerOf(description, game, agent, offer.id) }]));
  return { description, participants, game };
}

// From a state and the random numbers of the ply to what the player finds.
/** @type {(description: Description, game: Game, agent: Evaluation, id: string) => Participant["consider"]} */
function playerOf(description, game, agent, id) {
  const { seconds, ways } = description;
  // Only agents with a policy head are used as this.
  const policyAgent = /** @type {Evaluator} */ (/** @type {unknown} */ (agent));
  /** @type {(found: {values: number[], isExact?: boolean, proved?: boolean[]}, draws: Draws) => Found} */
  const best = (found, draws) => ({ ...found, action: pick(nearlyBest(found.values, 0, game.ends.win), draws(TIE_BREAK)) });
  const limited = { seconds };
  const way = ways[id];
  switch (way.kind) {
    case "agent":
      return (state, draws) => best({ values: game.actionValues(state, agent) }, draws);
    case "search":
      return (state, draws) => best(withProved(game, searched(game, agent, state, limited)), draws);
    case "tree_search": {
      const evaluator = evaluatorOf(way, game, policyAgent);
      return (state) => preferred(treeSearched(game, evaluator, way.rule, state, limited));
    }
    case "strength":
    case "tree_strength": {
      const strength = new Strength(way, description, game, /** @type {Evaluation & Evaluator} */ (agent));
      return (state, draws) => ({ values: null, action: strength.act(state, draws) });
    }
    default:
      return (state, draws) => ({ values: null, action: pick(game.legal(state), draws(RANDOM_ACTION)) });
  }
}

// Actions with fewer simulations are not known to be better than the one that the tree search chooses.
/** @type {(found: TreeSearched) => Found} */
const preferred = ({ values, proved, action }) => ({ values: belowBest(values, action), proved, action, isUneven: true });

// Of a search that has not reached the end in all lines, only forced wins and losses are proved, where no points count.
/** @type {(game: Game, found: {values: number[], isExact: boolean}) => {values: number[], isExact: boolean, proved: boolean[]}} */
const withProved = ({ ends: { win, point } }, { values, isExact }) => ({
  values,
  isExact,
  proved: values.map((value) => isExact || (point === 0 && Math.abs(value) >= win)),
});

// A load that failed is tried again at the next request.
/** @type {Promise<Loaded> | null} */
let loading = null;

/** @type {() => Promise<Loaded>} */
function loaded() {
  loading ??= load().catch((error) => {
    loading = null;
    throw new Refusal(503, `the files of the agent could not be loaded (${error.message})`);
  });
  return loading;
}

/** @type {(all: Loaded, asked: MatchRequest) => Participants} */
function players({ description, participants }, { opponent, partner, adviser }) {
  const [unknown] = [opponent, partner, adviser].filter((id) => id && !participants.has(id));
  if (unknown !== undefined) {
    throw new Refusal(404, `unknown opponent; choose one of ${[...participants.keys()].join(", ")}`);
  }
  const get = (/** @type {string} */ id) => /** @type {Participant} */ (participants.get(id));
  const ifAny = (/** @type {string | null | undefined} */ id) => (id ? get(id) : null);
  return { opponent: get(opponent), partner: ifAny(partner), adviser: ifAny(adviser), judge: get(description.judge) };
}

// The answer about a match: the parts that are asked for, and null for the others.
/** @type {(all: Loaded, asked: MatchRequest) => MatchAnswer} */
function answerAbout(all, asked) {
  const { ply = null, valued = null, advance = false, show = ["view"] } = asked;
  const match = new Match(all.description, all.game, players(all, asked), asked);
  if (advance) {
    match.advance();
  }
  if (valued !== null) {
    match.valuePlies(valued);
  }
  return {
    match: show.includes("view") ? match.view(ply) : null,
    record: show.includes("record") ? match.record() : null,
    judged: show.includes("judged") ? match.judged(ply) : null,
    hint: show.includes("hint") ? match.hint(ply) : null,
    file: show.includes("file") ? match.file() : null,
    dead: show.includes("dead") ? match.dead() : null,
    territory: show.includes("territory") ? match.territory(ply) : null,
    late: [],
  };
}

// About the game.
/** @type {Record<string, (all: Loaded) => unknown>} */
const ANSWERS = {
  "GET ": ({ description }) => [description.view],
  "GET opponents": ({ description }) => description.offer,
  "GET rules": ({ description }) => description.rules,
  "GET proof": () => ({ is_unbeatable: null, unbeatable_seats: null, text: "" }),
  "GET preparation": () => ({ is_ready: true, is_loading: false, compiled: 0, functions: 0, seconds: 0 }),
  "GET runs": () => [],
  "GET story": () => {
    throw new Refusal(404, "this page was exported without the story of the run");
  },
};

/** @type {(all: Loaded, method: string, address: string, body: any) => unknown} */
function answerTo(all, method, address, body) {
  const [, , kind, , what = ""] = new URL(address, "http://page").pathname.split("/");
  if (kind === "match" && method === "POST") {
    return answerAbout(all, body);
  }
  const answer = kind === "games" ? ANSWERS[`${method} ${what}`] : undefined;
  if (answer === undefined) {
    throw new Refusal(404, "an exported page cannot do this");
  }
  return answer(all);
}

addEventListener("message", async ({ data: { number, method, address, body } }) => {
  try {
    postMessage({ number, status: 200, answer: answerTo(await loaded(), method, address, body) });
  } catch (/** @type {any} */ error) {
    if (!(error instanceof Refusal)) {
      console.error(error);
    }
    postMessage({ number, status: error.status ?? 500, answer: { error: error.message } });
  }
});
