// Answers the requests of an exported page in the place of a server. The work is done in a worker, so that the page
// does not wait while the agent thinks.

const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
// By the number of a request: {take, fail}.
const waiting = new Map();
let requests = 0;

worker.addEventListener("message", ({ data: { number, status, answer } }) => {
  waiting.get(number).take(new Response(JSON.stringify(answer), { status }));
  waiting.delete(number);
});
worker.addEventListener("error", (event) => {
  waiting.forEach(({ fail }) => fail(new TypeError(event.message)));
  waiting.clear();
});

// As the fetch of browsers, for addresses below api/.
/** @type {(address: string, request?: {method?: string, body?: string}) => Promise<Response>} */
export function fetch(address, { method = "GET", body } = {}) {
  requests += 1;
  const number = requests;
  return new Promise((take, fail) => {
    waiting.set(number, { take, fail });
    worker.postMessage({ number, method, address, body: body === undefined ? null : JSON.parse(body) });
  });
}
