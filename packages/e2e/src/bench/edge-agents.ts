import { createHash, randomUUID } from "node:crypto";
import type { TestCloud } from "@downlink/cloud/testing";
import { api, type CallInput, edgeLimits, LEASE_HEADER } from "@downlink/protocol";
import { request } from "undici";
import { itemText, type SaidFile } from "./edge-items.ts";

export interface BenchAgent {
  readonly token: string;
  readonly lease: number;
  /** The input of its hello. */
  readonly hello: CallInput<typeof api.edge.hello>;
  /** The number of the last report. */
  sequence: number;
}

/** The contents of one report, as texts of JSON. */
interface Said {
  readonly upserts?: readonly string[];
  readonly removals?: readonly string[];
  readonly listing?: { readonly id: string; readonly isLast: boolean; readonly count?: number };
}

/** Creates a device with an agent that has said hello. The project may be left out if there is only one. */
export async function startBenchAgent(cloud: TestCloud, name: string, projectId?: string): Promise<BenchAgent> {
  const device = await cloud.admin.call(api.devices.create, { name, projectId });
  const { token } = await cloud.admin.call(api.deviceTokens.create, { deviceId: device.id });
  const hello = {
    agentVersion: "0.0.0-bench",
    instanceId: randomUUID(),
    machineId: name,
    host: { hostname: name, platform: "linux", arch: "x64" },
    inventory: { count: 0, digest: createHash("sha256").digest("hex") },
    clock: 0n,
  };
  const { lease } = await cloud.withToken(token!).call(api.edge.hello, hello);
  return { token: token!, lease, hello, sequence: 0 };
}

/** Reports all files in reports of the largest size; returns the number of reports. */
export async function sayFiles(cloud: TestCloud, agent: BenchAgent, files: readonly SaidFile[]): Promise<number> {
  return inBatches(files, (batch) => send(cloud, agent, { upserts: batch.map(itemText) }));
}

/** Reports a complete listing: a file that it does not name is gone. */
export async function listFiles(cloud: TestCloud, agent: BenchAgent, files: readonly SaidFile[]): Promise<number> {
  const id = randomUUID();
  const last = files.at(-1);
  return inBatches(files, (batch) => {
    const isLast = batch.at(-1) === last;
    const listing = { id, isLast, ...(isLast && { count: files.length }) };
    return send(cloud, agent, { upserts: batch.map(itemText), listing });
  });
}

export async function removeFiles(cloud: TestCloud, agent: BenchAgent, files: readonly SaidFile[]): Promise<number> {
  return inBatches(files, (batch) => send(cloud, agent, { removals: batch.map(({ versionId }) => versionId) }));
}

/** The card is empty: one report removes all files. */
export async function listNothing(cloud: TestCloud, agent: BenchAgent): Promise<number> {
  await send(cloud, agent, { listing: { id: randomUUID(), isLast: true, count: 0 } });
  return 1;
}

async function inBatches<T>(all: readonly T[], work: (batch: T[]) => Promise<void>): Promise<number> {
  let count = 0;
  for (let at = 0; at < all.length; at += edgeLimits.itemsPerReport, count++)
    await work(all.slice(at, at + edgeLimits.itemsPerReport));
  return count;
}

async function send(
  { url }: TestCloud,
  agent: BenchAgent,
  { upserts = [], removals = [], listing }: Said,
): Promise<void> {
  agent.sequence += 1;
  const rest = JSON.stringify({ sequence: agent.sequence, removals, listing }).slice(1);
  const answer = await request(`${url}${api.edge.report.path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${agent.token}`,
      "content-type": "application/json",
      [LEASE_HEADER]: String(agent.lease),
    },
    body: `{"upserts":[${upserts.join(",")}],${rest}`,
    headersTimeout: 0,
  });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`a report was answered ${answer.statusCode}: ${text}`);
}
