// Lints the document that the contract gives, examples included, with an independent tool; and compiles a client that another one generates
// from it, with a call of each operation as the document shows it.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { documentedApi, toOpenApi } from "@downlink/protocol";
import openapiTS, { astToString } from "openapi-typescript";
import { writeCalls } from "./write-calls.ts";

const ROOT = resolve(import.meta.dirname, "..");
const service = {
  title: "Downlink",
  version: "0.0.0",
  description: "Checked",
  serverUrl: "https://downlink.internal",
};
const document = toOpenApi(documentedApi, service);
const cache = join(ROOT, "packages/cloud/node_modules/.cache"); // the client is found from there
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, "openapi-"));
try {
  process.exitCode = lint() || (await compile());
} finally {
  rmSync(folder, { recursive: true });
}

function lint(): number {
  const file = join(folder, "openapi.json");
  writeFileSync(file, JSON.stringify(document, null, 2));
  const args = ["lint", file, "--config", join(ROOT, "redocly.yaml"), "--max-problems", "20", "--format", "stylish"];
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  return spawnSync("redocly", args, { cwd: ROOT, env, stdio: "inherit" }).status ?? 1;
}

async function compile(): Promise<number> {
  const types = await openapiTS(JSON.stringify(document));
  writeFileSync(join(folder, "types.ts"), astToString(types));
  const calls = join(folder, "calls.ts");
  writeFileSync(calls, writeCalls(document));
  const language = ["--strict", "--module", "nodenext", "--target", "es2024", "--allowImportingTsExtensions"];
  const args = ["--noEmit", "--ignoreConfig", ...language, calls];
  return spawnSync("tsc", args, { cwd: ROOT, stdio: "inherit" }).status ?? 1;
}
