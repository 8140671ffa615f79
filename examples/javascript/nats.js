// Registers a job over NATS and receives its runs.
//
// A verb is a request to carillon.v1.<tenant>.<verb> with one JSON object; any client of NATS can send it.
import { connect } from "@nats-io/transport-node";

const nc = await connect({ servers: process.env.CARILLON_SERVER ?? "nats://127.0.0.1:4222", timeout: 5000 });

// ask returns the reply of a verb. A refusal has a stable code, a message for people, and the member that is wrong; one with
// the code expected is returned too.
async function ask(verb, body, expected) {
  const reply = await nc.request(`carillon.v1.default.${verb}`, JSON.stringify(body), { timeout: 5000 });
  const json = reply.json();
  if (json.error && json.error.code !== expected) throw new Error(`${json.error.code}: ${json.error.message}`);
  return json;
}

// Workers of one queue group share the runs.
const runs = nc.subscribe("examples.javascript", { queue: "workers", max: 3 });

// A put without `paused` resumes a job that an operator has paused, so this one keeps the pause. If the job
// was paused or resumed between the two requests, `if_version` refuses the put; 0 means that there is no such job.
const name = "examples/javascript-nats";
const { job: had } = await ask("jobs.get", { name }, "not_found");
const { job } = await ask("jobs.put", {
  name,
  schedule: "@every 500ms",
  target: { kind: "nats", subject: "examples.javascript" },
  payload: { from: "javascript-nats" },
  paused: had?.paused ?? false,
  if_version: had?.version ?? 0,
});
if (job.paused) throw new Error(`${job.name} is paused and has no runs until it is resumed`);
console.log(`${job.name} is on disk, next run ${job.next_run_at}`);

const late = setTimeout(() => { throw new Error("the runs have not arrived"); }, 15_000); // a service waits for as long as it lives
for await (const run of runs) {
  // The run id is the same for each attempt of a run: the key by which to do the work once.
  console.log("run", run.headers?.get("Carillon-Run-Id"), run.string());
}
clearTimeout(late);

await ask("jobs.delete", { name: job.name });
await nc.close();
