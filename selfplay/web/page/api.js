// Requests to the server, at addresses relative to the page, which may be below a path. Every failure becomes an Error
// whose message is a sentence.

/** @type {(method: string, address: string, body?: object, signal?: AbortSignal) => Promise<any>} */
async function ask(method, address, body, signal) {
  let response;
  /** @type {any} */
  let answer;
  try {
    response = await fetch(`api${address}`, {
      method,
      signal,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    answer = await response.json();
  } catch {
    throw Object.assign(new Error("The server does not answer. Is it still running?"), { status: 0 });
  }
  if (!response.ok) {
    throw Object.assign(new Error(sentence(answer.error)), { status: response.status, game: answer.game });
  }
  return answer;
}

/** @type {(text: string) => string} */
function sentence(text) {
  const start = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(start) ? start : `${start}.`;
}

const part = encodeURIComponent;

/** @type {() => Promise<GameView[]>} */
export const games = () => ask("GET", "/games");
/** @type {(name: string) => Promise<GameView>} */
export const game = (name) => ask("GET", `/games/${part(name)}`);
/** @type {(game: string) => Promise<OpponentsView>} */
export const opponents = (game) => ask("GET", `/games/${part(game)}/opponents`);
/** @type {(game: string) => Promise<RulesView>} */
export const rules = (game) => ask("GET", `/games/${part(game)}/rules`);
/** @type {(game: string, opponent: string) => Promise<PreparationView>} */
export const preparation = (game, opponent) => ask("GET", `/games/${part(game)}/preparation?opponent=${part(opponent)}`);
/** @type {(game: string, opponent: string, signal: AbortSignal) => Promise<ProofView>} */
export const proof = (game, opponent, signal) => ask("GET", `/games/${part(game)}/proof?opponent=${part(opponent)}`, undefined, signal);
// The parts of the answer about a match that are asked for. In an answer, those are not null.
/** @type {(request: MatchRequest, signal?: AbortSignal) => Promise<{[Part in keyof MatchAnswer]: NonNullable<MatchAnswer[Part]>}>} */
export async function match(request, signal) {
  const answer = await ask("POST", "/match", request, signal);
  if (answer.late.length > 0) {
    throw Object.assign(new Error("The time for this reply was too short. Ask again."), { status: 503 });
  }
  return answer;
}

const tags = new Map();

/** @type {(game: string) => Promise<RunView[]>} */
export const runs = (game) => ask("GET", `/games/${part(game)}/runs`);

// The story of the game's run, or of another run of it; null if it has not changed since the previous request.
/** @type {(game: string, isNew: boolean, run?: string | null) => Promise<StoryView | null>} */
export async function story(game, isNew, run = null) {
  const address = `api/games/${part(game)}/story${run === null ? "" : `?run=${part(run)}`}`;
  /** @type {Record<string, string>} */
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
