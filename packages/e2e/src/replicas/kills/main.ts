// Kills the processes of a control plane, one after the other, while agents and clients work:
//
//   npm run faults:replicas [-- --kills 200] [--seed 1] [--bucket]
//
// It ends by itself and prints tables. It exits with 1 if an invariant did not hold, or a client saw more than one failed request of a kill
// or one of a process that SIGTERM ended.

import { parseArgs } from "node:util";
import { seededRandom } from "@downlink/recordings/testing";
import { makeTable } from "../../terminal/make-table.ts";
import { whyNoNginx } from "../nginx.ts";
import { surviveKills } from "./survive-kills.ts";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
    bucket: { type: "boolean", default: false },
  },
});

const interrupted = new AbortController();
const stop = () => interrupted.abort(new Error("it was interrupted"));
process.once("SIGINT", stop).once("SIGTERM", stop);

if (whyNoNginx() === undefined) await run();
else process.exitCode = 1;

async function run(): Promise<void> {
  const random = seededRandom(Number(values.seed));
  const { signal } = interrupted;
  const survival = await surviveKills({ kills: Number(values.kills), random, isInBucket: values.bucket, signal });
  for (const failed of survival.failed) console.log(`a request failed: ${failed}`);
  const killed = makeTable(["what", "times", "failed requests", "of one at most"]);
  for (const [what, { times, failed, most }] of [...survival.kills].sort()) killed.push([what, times, failed, most]);
  console.log(killed.toString());
  const seen = makeTable(["a client that", "done", "failed"]);
  for (const [client, { done, failed }] of survival.clients) seen.push([client, done, failed]);
  console.log(seen.toString());
  const { failures, files, uploads, longestWaits } = survival;
  for (const failure of failures) console.log(`it did not hold: ${failure}`);
  if (failures.length > 0) process.exitCode = 1;
  else console.log(`${files} files of robots and ${uploads} uploads are stored once, byte for byte`);
  if (longestWaits) {
    const { seconds, silenceSeconds } = longestWaits;
    console.log(
      `the slowest import took ${seconds.toFixed(1)} s; none waited for a dead process longer than ${silenceSeconds.toFixed(1)} s`,
    );
  }
  console.log(`seed ${values.seed}`);
}
