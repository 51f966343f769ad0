// How much one tenant's nuisance slows down a neighbour: another tenant, whose client reads one list after another in a process of its own.
//
//   npm run bench:neighbours [-- --only "polls|link"] [--rounds 5]
//
// Quiet rounds and rounds beside the nuisance take turns in one run. It prints the medians of their 99th percentiles, and the ratio. It
// never fails for a time.
import { fork } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createClient } from "@downlink/client";
import { undiciTransport } from "@downlink/client/node";
import { api } from "@downlink/protocol";
import { startControlPlane } from "../../processes/control-plane.ts";
import { startProgram } from "../../processes/program.ts";
import { makeTable } from "../../terminal/make-table.ts";
import { order } from "../api/measure-operation.ts";
import { say } from "../report.ts";
import { type Nuisance, prepareNuisances } from "./nuisances.ts";

const ROUND_MS = 2000;
const EVENTS = 50;

const { values } = parseArgs({
  options: { only: { type: "string", default: "" }, rounds: { type: "string", default: "5" } },
});
await using closing = new AsyncDisposableStack();
const dataDir = await mkdtemp(join(tmpdir(), "downlink-neighbours-"));
closing.defer(() => rm(dataDir, { recursive: true }));
const cloud = closing.use(await startControlPlane({ dataDir }));
const neighbour = await startNeighbour();
const table = makeTable(["beside", "p99 without, ms", "p99 beside, ms", "ratio"]);
for (const nuisance of await prepareNuisances(cloud))
  if (new RegExp(values.only).test(nuisance.name)) table.push(await measure(nuisance));
say(table.toString());

async function measure({ name, begin }: Nuisance): Promise<string[]> {
  const quiet: number[] = [];
  const beside: number[] = [];
  while (quiet.length < Number(values.rounds)) {
    quiet.push((await neighbour.listFor(ROUND_MS)).p99Ms);
    await using _nuisance = await begin();
    beside.push((await neighbour.listFor(ROUND_MS)).p99Ms);
  }
  const [quietMs, besideMs] = [medianOf(quiet), medianOf(beside)];
  return [name, quietMs.toFixed(1), besideMs.toFixed(1), (besideMs / quietMs).toFixed(2)];
}

function medianOf(figures: readonly number[]): number {
  return figures.toSorted((one, other) => one - other)[figures.length >> 1]!;
}

async function startNeighbour() {
  await using program = startProgram({
    script: "cloud/src/main.ts",
    args: ["admin", "create-org", "neighbour"],
    env: { DOWNLINK_DATA_DIR: dataDir },
  });
  if ((await program.ended) !== 0) throw new Error(program.output());
  const key = /shown once\): (\S+)/.exec(program.output())![1]!;
  const client = createClient({ baseUrl: cloud.url, token: key, transport: undiciTransport() });
  const { id: deviceId } = await client.call(api.devices.create, { name: "theirs" });
  for (let n = 0; n < EVENTS; n++)
    await client.call(api.events.create, { deviceId, start: BigInt(n), end: BigInt(n), metadata: { n: String(n) } });
  const load = fork(new URL("../api/load.ts", import.meta.url));
  closing.defer(() => void load.kill());
  const request = `GET /v1/events?limit=${EVENTS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  const port = Number(new URL(cloud.url).port);
  return { listFor: (durationMs: number) => order(load, { port, requests: [request], durationMs }) };
}
