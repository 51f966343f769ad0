import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type OwnNetwork, openOwnNetwork } from "../processes/own-network.ts";

/** Opens a network for the test's agent alone; returns undefined if none can be had, and the test's report says why. */
export async function requireNetwork(t: TestContext): Promise<OwnNetwork | undefined> {
  const folder = await mkdtemp(join(tmpdir(), "downlink-network-"));
  t.after(() => rm(folder, { recursive: true }));
  try {
    return await openOwnNetwork(join(folder, "resolv.conf"));
  } catch (error) {
    t.diagnostic(`no network of its own can be had here: ${(error as Error).message}`);
    return undefined;
  }
}
