// Routes the address to a view of a game: #play/othello, #story/tictactoe.

import * as api from "./api.js";
import { at, element } from "./drawing.js";
import * as play from "./play.js";
import * as story from "./story.js";

let games = [];
let open = "";

function asked() {
  const [view, name] = location.hash.slice(1).split("/");
  const game = games.find((one) => one.name === name) ?? games.find((one) => one.is_default) ?? games[0];
  return { view: view === "story" ? "story" : "play", game };
}

function route() {
  const { view, game } = asked();
  const address = `${view}/${game.name}`;
  if (open === address) {
    return;
  }
  open = address;
  at("game").value = game.name;
  at("play").hidden = view !== "play";
  at("story").hidden = view !== "story";
  for (const one of ["play", "story"]) {
    at(`to-${one}`).href = `#${one}/${game.name}`;
    if (one === view) {
      at(`to-${one}`).setAttribute("aria-current", "page");
    } else {
      at(`to-${one}`).removeAttribute("aria-current");
    }
  }
  document.title = view === "play" ? `${game.title} · selfplay` : `Story of ${game.title} · selfplay`;
  if (view === "story") {
    story.open(game);
  } else {
    story.close();
    if (at("play").dataset.game !== game.name) {
      at("play").dataset.game = game.name;
      play.open(game);
    }
  }
}

document.querySelector(".skip").addEventListener("click", (event) => {
  // The fragment of the address selects the view, so it must not change.
  event.preventDefault();
  at("main").focus();
});

try {
  games = await api.games();
  at("game").replaceChildren(...games.map((game) => element("option", { value: game.name }, game.title)));
  at("game").addEventListener("change", () => {
    location.hash = `${asked().view}/${at("game").value}`;
  });
  window.addEventListener("hashchange", route);
  route();
} catch (error) {
  at("play").hidden = false;
  at("status").textContent = "The page could not be loaded. Press New match to try again.";
  at("error").hidden = false;
  at("error").textContent = error.message;
}
