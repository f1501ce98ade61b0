// Routes the address to a view of a game: see address.js.

import * as address from "./address.js";
import * as api from "./api.js";
import { at, element } from "./drawing.js";
import * as chooser from "./games.js";
import * as play from "./play.js";
import * as rules from "./rules.js";
import * as story from "./story.js";

// The title of the window in each view.
/** @type {Record<string, (game: GameView) => string>} */
const TITLES = {
  games: () => "Games · selfplay",
  play: ({ title }) => `${title} · selfplay`,
  rules: ({ title }) => `How to play ${title} · selfplay`,
  story: ({ title }) => `Story of ${title} · selfplay`,
};

/** @type {GameView[]} */
let games = [];
// Games with other options, which are not listed, by their names; null for a name of no game.
/** @type {Map<string, GameView | null>} */
const others = new Map();
let open = "";

function asked() {
  const { game: named, view: other, ...given } = address.read(location.hash);
  // The first screen shows the games, unless the server was started for one of them.
  const isFirst = location.hash.length < 2 && games.length > 1 && games[0].is_default;
  const view = isFirst ? "games" : other;
  const name = view === "games" ? at("play").dataset.game : named;
  const game = games.find((one) => one.name === name) ?? others.get(name ?? "");
  return { ...given, view, game: game ?? games.find((one) => one.is_default) ?? games[0], unknown: game || !name ? null : name };
}

// Offers the games: the boards of a game together, and games without a board last.
function offer() {
  at("to-games").hidden = games.length < 2;
  at("game").replaceChildren(...[...chooser.byTitle(games)].flatMap(([title, some]) => {
    const options = some.map((game) => element("option", { value: game.name }, game.title));
    return options.length > 1 ? [element("optgroup", { label: title }, ...options)] : options;
  }));
}

/** @type {(view: string, game: GameView) => void} */
function showView(view, game) {
  at("game").value = game.board;
  for (const one of Object.keys(TITLES)) {
    at(one).hidden = one !== view;
    at(`to-${one}`).setAttribute("aria-current", one === view ? "page" : "false");
  }
  at("to-rules").href = `#rules/${game.name}`;
  at("to-story").href = `#story/${game.name}`;
  document.title = TITLES[view](game);
}

// Asks for a game with other options that is named for the first time.
/** @type {(name: string) => Promise<void>} */
async function learnOf(name) {
  others.set(name, await api.game(name).catch(() => null));
  route();
}

function route() {
  const { view, game, saved, shown, unknown } = asked();
  if (unknown?.includes("=") && !others.has(unknown)) {
    learnOf(unknown);
    return;
  }
  const isReturn = open.startsWith("story/") && view === "play";
  const isSameView = open === `${view}/${game.name}`;
  open = `${view}/${game.name}`;
  showView(view, game);
  if (view !== "story") {
    story.close();
  }
  if (view !== "play") {
    const isPlayed = at("play").dataset.game === game.name && play.savedAddress() !== null;
    at("to-play").href = isPlayed ? play.savedAddress() : `#play/${game.name}`;
    at("rules-play").href = at("to-play").href;
    if (view === "games") {
      chooser.open(games);
    } else if (view === "rules") {
      rules.open(game);
    } else if (!isSameView || location.hash !== story.savedAddress()) {
      story.open(game);
    }
    return;
  }
  at("to-play").href = `#play/${game.name}`;
  if (at("play").dataset.game !== game.name || unknown !== null || (saved !== null && location.hash !== play.savedAddress())) {
    at("play").dataset.game = game.name;
    play.open(game, saved, shown, unknown && `There is no game "${unknown}"; this is ${game.title}.`);
  } else if (isReturn) {
    play.refresh();
  }
}

document.querySelector(".skip")?.addEventListener("click", (event) => {
  // The fragment of the address selects the view, so it must not change.
  event.preventDefault();
  at("main").focus();
});

try {
  games = await api.games();
  offer();
  at("game").addEventListener("change", () => {
    const { view } = asked();
    location.hash = `${view === "games" ? "play" : view}/${at("game").value}`;
  });
  window.addEventListener("hashchange", route);
  route();
} catch (/** @type {any} */ error) {
  at("play").hidden = false;
  at("status").textContent = "The page could not be loaded. Press New match to try again.";
  at("error").hidden = false;
  at("error").textContent = error.message;
}
