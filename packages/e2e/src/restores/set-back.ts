import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { ApiCallError, NetworkError } from "@downlink/client";
import { copyDatabase, dropDatabase } from "@downlink/cloud/testing";
import { api, type Recording } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import pg from "pg";
import { assertExportedExactly } from "../processes/compare-export.ts";
import type { Scenario } from "../processes/scenario.ts";

/** The marks are compared once a minute, and an agent that could not reach the cloud waits before it tries again. */
const PATIENCE_MS = 150_000;

/** Returns the folder that keeps a copy of each file, because the device deletes some. */
const originalsOf = ({ storageRoot }: Scenario) => `${storageRoot}-originals`;

export async function writeFiles(scenario: Scenario, ...names: readonly string[]): Promise<void> {
  await mkdir(originalsOf(scenario), { recursive: true });
  for (const name of names) {
    const bytes = await makeMcap({ metadata: [{ name: "made", metadata: { as: name } }] });
    for (const folder of [originalsOf(scenario), scenario.storageRoot]) await writeFile(join(folder, name), bytes);
  }
}

/** Asks until the answer is the wanted one, even while the control plane does not answer. */
export async function patiently<T>(ask: () => Promise<T>, isWanted: (answer: T) => boolean): Promise<T> {
  const tried = async () => {
    try {
      return { answer: await ask() };
    } catch (error) {
      if (error instanceof NetworkError || (error instanceof ApiCallError && error.status >= 500)) return {};
      throw error;
    }
  };
  const isAnswered = (one: { answer?: T }) => "answer" in one && isWanted(one.answer as T);
  return (await eventually<{ answer?: T }>(tried, isAnswered, PATIENCE_MS)).answer as T;
}

export const find = (all: readonly Recording[], path: string) => all.find((one) => one.path === path);

export async function importFile(scenario: Scenario, path: string): Promise<Recording> {
  const all = await patiently(scenario.recordings, (found) => find(found, path) !== undefined);
  const { id } = find(all, path)!;
  await scenario.cloud().admin.call(api.recordings.requestImport, { keyOrId: id });
  return scenario.until("complete", id);
}

export async function backUp(t: TestContext, { databaseUrl }: Scenario): Promise<string> {
  const copy = await copyDatabase(databaseUrl!);
  t.after(() => dropDatabase(copy));
  return copy;
}

/** Waits until the control plane knows that the device has lost the file, which no call of the API says. */
export async function untilLostAtEdge({ databaseUrl }: Scenario, path: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const files = () => client.query(`SELECT FROM "EdgeFile" WHERE path = $1`, [path]);
    await eventually(files, ({ rowCount }) => rowCount === 0, PATIENCE_MS);
  } finally {
    await client.end();
  }
}

/** Waits until the control plane has noticed the restore and has recovered. */
export async function recovered(scenario: Scenario, before: string): Promise<void> {
  const read = async () => {
    const response = await fetch(`${scenario.cloud().url}/readyz`);
    return (await response.json()) as { status?: string; recovering?: string };
  };
  await patiently(
    async () => incarnationOf(scenario),
    (incarnation) => incarnation !== before,
  );
  await patiently(
    () => read().catch(() => ({ recovering: "it does not answer" })),
    ({ recovering }) => recovering === undefined,
  );
}

/** Reads the incarnation from an answer of the edge protocol, which names it in a header. */
export async function incarnationOf({ cloud, agentOptions }: Scenario): Promise<string> {
  const headers = { authorization: `Bearer ${agentOptions.token}` };
  const response = await fetch(`${cloud().url}/v1/edge/work`, { headers }).catch(() => undefined);
  return response?.headers.get("downlink-incarnation") ?? "";
}

export async function assertSame(scenario: Scenario, before: readonly Recording[]): Promise<void> {
  const isBack = (all: Recording[]) => before.every(({ path }) => find(all, path)?.importStatus === "complete");
  const after = await patiently(scenario.recordings, isBack);
  for (const one of before) {
    const { id, start, end, size, importStatus } = find(after, one.path)!;
    assert.deepEqual(
      { id, start, end, size, importStatus },
      { id: one.id, start: one.start, end: one.end, size: one.size, importStatus: "complete" },
    );
    await assertExportedExactly({ ...scenario, storageRoot: originalsOf(scenario) }, find(after, one.path)!);
  }
  const paths = after.map(({ path }) => path);
  assert.deepEqual([...new Set(paths)].sort(), paths.sort(), "each file is one recording");
  const stored = (await scenario.storedObjects()).map(({ sha256 }) => sha256);
  assert.deepEqual([...new Set(stored)].sort(), stored.sort(), "nothing is stored twice");
}
