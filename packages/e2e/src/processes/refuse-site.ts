import assert from "node:assert/strict";
import { startProgram } from "./program.ts";

interface Refused {
  readonly controlPlane: string;
  readonly token: string;
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Starts `downlink site` with settings that it cannot work with, and returns what it prints until it ends. */
export async function refuseSite({ controlPlane, token, dataDir, env }: Refused): Promise<string> {
  const settings = { ...env, DOWNLINK_DATA_DIR: dataDir, DOWNLINK_PORT: "0", DOWNLINK_SITE_TOKEN: token };
  await using program = startProgram({
    script: "cloud/src/main.ts",
    args: ["site", "--url", controlPlane],
    env: settings,
  });
  assert.notEqual(await program.ended, 0);
  return program.output();
}
