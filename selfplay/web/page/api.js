// Requests to the server, at addresses relative to the page, which may be below a path. Every failure becomes an Error
// whose message is a sentence.

async function ask(method, address, body, signal) {
  let response;
  let answer;
  try {
    response = await fetch(`api${address}`, {
      method,
      signal,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    answer = response.status === 204 ? null : await response.json();
  } catch {
    throw Object.assign(new Error("The server does not answer. Is it still running?"), { status: 0 });
  }
  if (!response.ok) {
    throw Object.assign(new Error(sentence(answer.error)), { status: response.status });
  }
  return answer;
}

function sentence(text) {
  const start = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(start) ? start : `${start}.`;
}

const part = encodeURIComponent;

export const games = () => ask("GET", "/games");
export const opponents = (game) => ask("GET", `/games/${part(game)}/opponents`);
export const rules = (game) => ask("GET", `/games/${part(game)}/rules`);
export const proof = (game, opponent, signal) => ask("GET", `/games/${part(game)}/proof?opponent=${part(opponent)}`, undefined, signal);
// request: {opponent, person}, and to bring a match back {partner, evaluator, moves, position, is_practice}.
export const begin = (game, request) => ask("POST", "/matches", { game, ...request });
export const look = (match) => ask("GET", `/matches/${part(match)}`);
export const act = (match, action, ply) => ask("POST", `/matches/${part(match)}/actions`, { action, ply });
export const reply = (match) => ask("POST", `/matches/${part(match)}/reply`);
export const undo = (match) => ask("POST", `/matches/${part(match)}/undo`);
export const next = (match, person) => ask("POST", `/matches/${part(match)}/next`, { person });
// players: {opponent, partner, evaluator}
export const takeOver = (match, players) => ask("PUT", `/matches/${part(match)}/opponent`, players);
export const rewind = (match, ply) => ask("POST", `/matches/${part(match)}/rewind`, { ply });
export const position = (match, ply) => ask("GET", `/matches/${part(match)}/positions/${ply}`);
export const file = (match) => ask("GET", `/matches/${part(match)}/file`);
// ply: the position before this ply.
export const hint = (match, ply) => ask("GET", `/matches/${part(match)}/hint?ply=${ply}`);
export const judged = (match, seconds, ply) => ask("GET", `/matches/${part(match)}/judged?seconds=${seconds}&ply=${ply}`);

export function leave(match) {
  fetch(`api/matches/${part(match)}`, { method: "DELETE", keepalive: true }).catch(() => {});
}

const tags = new Map();

export const runs = (game) => ask("GET", `/games/${part(game)}/runs`);

// The story of the game's run, or of another run of it; null if it has not changed since the previous request.
export async function story(game, isNew, run = null) {
  const address = `api/games/${part(game)}/story${run === null ? "" : `?run=${part(run)}`}`;
  const headers = !isNew && tags.has(address) ? { "If-None-Match": tags.get(address) } : {};
  const response = await fetch(address, { headers, cache: "no-store" });
  if (response.status === 304) {
    return null;
  }
  const answer = await response.json();
  if (!response.ok) {
    throw new Error(sentence(answer.error));
  }
  tags.set(address, response.headers.get("ETag"));
  return answer;
}
