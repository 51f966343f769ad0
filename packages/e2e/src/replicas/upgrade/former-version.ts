import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** The version before the first migration of buckets, replicas, backup and restore. */
const FORMER = "34999c780417";
/**
 * A process of the former version that stops may cut off a call that it has not read, above all on a busy machine. A later version mended
 * this. The test asks what the new version does, so that the former one gets the same mend.
 */
const STOP = {
  file: "packages/cloud/src/server.ts",
  changes: [
    [
      "  await delay(drainSeconds * 1000);",
      "  await delay(drainSeconds * 1000);\n  await new Promise((read) => setImmediate(read));",
    ],
    [
      "setInterval(() => server.closeIdleConnections(), LOOK_FOR_IDLE_MS)",
      "setInterval(() => setImmediate(() => server.closeIdleConnections()), LOOK_FOR_IDLE_MS)",
    ],
  ],
} as const;
const ROOT = join(import.meta.dirname, "../../../../..");

/**
 * Returns why there is no former version here; undefined if the history has it. It also prints the reason, because skipped tests prove
 * nothing.
 */
export function whyNoFormerVersion(): string | undefined {
  try {
    execFileSync("git", ["cat-file", "-e", `${FORMER}^{commit}`], { cwd: ROOT, stdio: "ignore" });
    return undefined;
  } catch {
    const reason = `NOT TESTED beside a former version: the history here does not have ${FORMER}`;
    console.error(reason);
    return reason;
  }
}

/** Checks the former version out into a folder, with the packages that it was pinned to and its stop mended. Returns its `packages/`. */
export function checkOutFormerVersion(folder: string): URL {
  mkdirSync(folder);
  const archive = execFileSync("git", ["archive", FORMER], { cwd: ROOT, maxBuffer: 1024 ** 3 });
  execFileSync("tar", ["-x", "-C", folder], { input: archive });
  mendStop(join(folder, STOP.file));
  const environment = Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_)/.test(name));
  const env = Object.fromEntries(environment);
  execFileSync(process.execPath, [join(folder, "scripts/bootstrap.mjs"), "--generate"], { env, stdio: "inherit" });
  return pathToFileURL(join(folder, "packages/"));
}

function mendStop(file: string): void {
  const former = readFileSync(file, "utf8");
  const mended = STOP.changes.reduce((text, [before, after]) => {
    if (!text.includes(before)) throw new Error(`${FORMER} does not have: ${before}`);
    return text.replace(before, after);
  }, former);
  writeFileSync(file, mended);
}
