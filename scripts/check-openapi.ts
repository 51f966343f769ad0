// Lints the document that the contract gives, examples included, with an independent tool.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { documentedApi, toOpenApi } from "@downlink/protocol";

const ROOT = resolve(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "downlink-openapi-"));
try {
  const file = join(folder, "openapi.json");
  const service = {
    title: "Downlink",
    version: "0.0.0",
    description: "Checked",
    serverUrl: "https://downlink.internal",
  };
  writeFileSync(file, JSON.stringify(toOpenApi(documentedApi, service), null, 2));
  const args = ["lint", file, "--config", join(ROOT, "redocly.yaml"), "--max-problems", "20", "--format", "stylish"];
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  const { status } = spawnSync("redocly", args, { cwd: ROOT, env, stdio: "inherit" });
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true });
}
