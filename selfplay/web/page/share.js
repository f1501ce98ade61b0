// Copying, saving and loading a match.

import * as api from "./api.js";
import { at, element } from "./drawing.js";

const say = (text) => {
  at("share-state").textContent = text;
};

// Shows the moves, unless the person is writing.
export function showMovesText(match) {
  if (document.activeElement !== at("moves")) {
    at("moves").value = match?.moves ?? "";
  }
}

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say(`The ${what} copied.`);
  } catch {
    // Without encryption, browsers offer no clipboard to pages of other computers.
    say("The browser does not allow copying; select the text instead.");
    at("moves").value = text;
    at("moves").select();
  }
}

export function saveFile(name, text, type) {
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}

async function download(match) {
  const { name, text } = await api.file(match.id);
  saveFile(name, text, "text/plain");
}

// match(): the current match, or null; load(moves): begins a match with these moves.
export function listenToShare(match, load) {
  const ifOpen = (action) => () => match() !== null && action(match()).catch?.((error) => say(error.message));
  at("copy-moves").addEventListener("click", ifOpen(({ moves }) => copy(moves, "moves are")));
  at("copy-link").addEventListener("click", ifOpen(() => copy(location.href, "link is")));
  at("download").addEventListener("click", ifOpen(download));
  at("load").addEventListener("click", async () => {
    say("");
    load(at("moves").value.trim());
  });
  at("share").addEventListener("toggle", () => {
    say("");
    showMovesText(match());
  });
}
