// Registers a job over HTTP and receives its runs as a web hook. It needs no package.
//
// The server must be allowed to call loopback addresses: carillon serve --allow-private-targets.
import { createServer } from "node:http";
import { once } from "node:events";

const server = process.env.CARILLON_SERVER ?? "http://127.0.0.1:7272";

// ask returns the reply to a request. On a server with rights, CARILLON_TOKEN has the token.
async function ask(method, path, body) {
  const headers = { "Content-Type": "application/json" };
  if (process.env.CARILLON_TOKEN) headers.Authorization = `Bearer ${process.env.CARILLON_TOKEN}`;
  const reply = await fetch(server + path, { method, headers, body: body && JSON.stringify(body), signal: AbortSignal.timeout(10_000) });
  const json = await reply.json();
  if (!reply.ok) throw new Error(`${reply.status} ${json.error.code}: ${json.error.message}`);
  return json;
}

// work fails at the first attempt of each run, for the example.
function work(key, attempt, body) {
  if (attempt === "1") throw new Error("the first attempt fails, for the example");
  console.log("run", key, body);
}

// A run may arrive twice, after a crash or a lost reply, and always with the same key.
const done = new Set();
const hook = createServer(async (request, response) => {
  try {
    request.setEncoding("utf8"); // a character may begin in one piece and end in the next
    let body = "";
    for await (const piece of request) body += piece;
    const key = request.headers["idempotency-key"];
    if (!done.has(key)) {
      // The work comes first and its key second, because a key without its work would make the next attempt succeed with
      // nothing done. A crash between the two repeats the work, and so do two attempts at a time if the work awaits; where
      // that hurts, both belong into one transaction, as in go-exactly-once.
      work(key, request.headers["carillon-attempt"], body);
      done.add(key);
    }
    response.writeHead(204).end(); // 2xx ends the run well
  } catch (error) {
    response.writeHead(500).end(String(error)); // 5xx, 408 and 429 are tried again
  }
  if (done.size === 3) hook.emit("enough");
});
hook.listen(0, "127.0.0.1");
await once(hook, "listening");
const enough = once(hook, "enough", { signal: AbortSignal.timeout(15_000) });

// A slash in a name may be written as it is; %2F is always right.
const name = encodeURIComponent("examples/javascript-http");
// A put resumes a paused job; nats.js shows how to keep a pause.
await ask("PUT", `/api/v1/jobs/${name}`, {
  schedule: "@every 500ms",
  target: { kind: "http", url: `http://127.0.0.1:${hook.address().port}/hook` },
  payload: { from: "javascript-http" },
  retry: { max_attempts: 5, initial_interval: "100ms" },
});
await enough;
await ask("DELETE", `/api/v1/jobs/${name}`);
hook.close();
hook.closeIdleConnections();
