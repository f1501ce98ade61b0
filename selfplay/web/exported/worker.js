// The requests of selfplay/web/matches.py and games.py, answered in the browser, one after another.

import { loadAgent } from "./agent.js";
import { Game } from "./game.js";
import { Match, Refusal } from "./match.js";
import { pick, RANDOM_ACTION, TIE_BREAK } from "./random.js";
import { searched } from "./search.js";
import { nearlyBest, Strength } from "./strengths.js";
import { treeSearched } from "./tree_search.js";

const MOST_MATCHES = 100;
const LESS = 1e-7;

const matches = new Map();
let begun = 0;

async function load() {
  const response = await fetch(new URL("./game.json", import.meta.url));
  const description = await response.json();
  const game = new Game(description);
  const agent = await loadAgent(description, new URL("./agent.bin", import.meta.url));
  const participants = new Map(description.offer.opponents.map((offer) => [offer.id, { offer, consider: playerOf(description, game, agent, offer.id) }]));
  return { description, game, participants };
}

// From a state and the random numbers of the ply to {values, action, isExact}; values is null if the player has none.
function playerOf(description, game, agent, id) {
  const { seconds, network, ways } = description;
  const best = (found, draws) => ({ ...found, action: pick(nearlyBest(found.values, 0, game.ends.win), draws(TIE_BREAK)) });
  const limited = { seconds };
  switch (ways[id].kind) {
    case "agent":
      return (state, draws) => best({ values: game.actionValues(state, agent) }, draws);
    case "search":
      return (state, draws) => (network.puct ? preferred(treeSearched(game, agent, state, limited)) : best(searched(game, agent, state, limited), draws));
    case "strength": {
      const strength = new Strength(ways[id], description, game, agent);
      return (state, draws) => ({ values: null, action: strength.act(state, draws) });
    }
    default:
      return (state, draws) => ({ values: null, action: pick(game.legal(state), draws(RANDOM_ACTION)) });
  }
}

// Actions with fewer simulations are not known to be better than the one that the tree search chooses.
function preferred({ values, action }) {
  const most = values[action];
  return { values: values.map((value, one) => (one === action ? value : Math.min(value, most - LESS))), action };
}

// A load that failed is tried again at the next request.
let loading = null;

function loaded() {
  loading ??= load().catch((error) => {
    loading = null;
    throw new Refusal(503, `the files of the agent could not be loaded (${error.message})`);
  });
  return loading;
}

function players({ description, participants }, { opponent, partner, evaluator }) {
  const [unknown] = [opponent, partner, evaluator].filter((id) => id && !participants.has(id));
  if (unknown !== undefined) {
    throw new Refusal(404, `unknown opponent; choose one of ${[...participants.keys()].join(", ")}`);
  }
  const get = (id) => participants.get(id) ?? null;
  return { opponent: get(opponent), partner: get(partner), evaluator: get(evaluator), judge: get(description.judge) };
}

function begin(all, asked) {
  begun += 1;
  const match = new Match(String(begun), all.description, all.game, players(all, asked), asked);
  matches.set(match.id, match);
  if (matches.size > MOST_MATCHES) {
    matches.delete(matches.keys().next().value);
  }
  return match.view();
}

function then(change) {
  return (match, ...given) => {
    change(match, ...given);
    return match.view();
  };
}

const GAMES = {
  "GET ": ({ description }) => [description.view],
  "GET opponents": ({ description }) => description.offer,
  "GET rules": ({ description }) => description.rules,
  "GET proof": () => ({ is_unbeatable: null, unbeatable_seats: null, text: "" }),
  "GET runs": () => [],
  "GET story": () => {
    throw new Refusal(404, "this page was exported without the story of the run");
  },
};

// (match, body, number in the address, query, all that is loaded)
const MATCHES = {
  "GET ": (match) => match.view(),
  "POST actions": then((match, { action, ply }) => match.play(action, ply)),
  "POST reply": then((match) => match.reply()),
  "POST undo": then((match) => match.undo()),
  "POST next": then((match, { person }) => match.next(person)),
  "POST rewind": then((match, { ply }) => match.rewind(ply)),
  "PUT opponent": then((match, asked, _ply, _query, all) => match.takeOver(players(all, asked))),
  "GET positions": (match, _body, ply) => match.view(ply),
  "GET hint": (match, _body, _ply, query) => match.hint(Number(query.get("ply") ?? match.plies.length)),
  "GET judged": (match, _body, _ply, query) => match.judged(Number(query.get("ply") ?? match.plies.length)),
  "GET file": (match) => match.file(),
  "DELETE ": (match) => matches.delete(match.id) && null,
};

function answerTo(all, method, address, body) {
  const url = new URL(address, "http://page");
  const [, , kind, id = "", what = "", number] = url.pathname.split("/").map(decodeURIComponent);
  if (kind === "matches" && method === "POST" && id === "") {
    return begin(all, body);
  }
  const answers = kind === "games" ? GAMES : MATCHES;
  const match = kind === "games" ? null : matches.get(id);
  const answer = answers[`${method} ${what}`];
  if (match === undefined || answer === undefined) {
    throw new Refusal(404, answer === undefined ? "an exported page cannot do this" : "this match does not exist any more");
  }
  return kind === "games" ? answer(all) : answer(match, body, Number(number), url.searchParams, all);
}

addEventListener("message", async ({ data: { number, method, address, body } }) => {
  try {
    const answer = answerTo(await loaded(), method, address, body);
    postMessage({ number, status: answer === null ? 204 : 200, answer });
  } catch (error) {
    if (!(error instanceof Refusal)) {
      console.error(error);
    }
    postMessage({ number, status: error.status ?? 500, answer: { error: error.message } });
  }
});
