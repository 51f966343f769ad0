import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { mkdir, readdir, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { say } from "../report.ts";

const SOURCES = join(import.meta.dirname, "peer");
const CACHE = fileURLToPath(new URL("../../../../../node_modules/.cache/downlink/", import.meta.url));
/** The first one that exists is used. */
const COMPILERS = ["c++", "g++", "clang++"];

/** Returns the path of the reference in C++, built again if its sources changed; undefined, with a message, if it cannot be built. */
export async function buildPeer(): Promise<string | undefined> {
  const program = join(CACHE, "mcap-peer");
  if ((await changedMs([program])) > (await changedMs(await listSources()))) return program;
  await mkdir(CACHE, { recursive: true });
  const refusal = compile(`${program}.${process.pid}`);
  if (refusal !== undefined) {
    say(`no reference in C++, which needs a compiler, libzstd-dev and liblz4-dev: ${refusal}`);
    return undefined;
  }
  await rename(`${program}.${process.pid}`, program);
  return program;
}

async function listSources(): Promise<string[]> {
  return (await readdir(SOURCES)).map((name) => join(SOURCES, name));
}

/** Returns the time of the youngest file; 0 for files that do not exist. */
async function changedMs(paths: readonly string[]): Promise<number> {
  const times = await Promise.all(paths.map((path) => stat(path).then(({ mtimeMs }) => mtimeMs, orAbsent)));
  return Math.max(...times);
}

function orAbsent(error: NodeJS.ErrnoException): number {
  if (error.code === "ENOENT") return 0;
  throw error;
}

/** Returns the reason of a failure. */
function compile(output: string): string | undefined {
  const flags = ["-std=c++17", "-O3", "-march=native", "-Wall", "-Wextra"];
  const args = [...flags, "-o", output, join(SOURCES, "mcap-peer.cpp"), "-lzstd", "-llz4"];
  for (const compiler of COMPILERS) {
    const { error, status, stderr }: SpawnSyncReturns<string> = spawnSync(compiler, args, { encoding: "utf8" });
    if (error) continue;
    return status === 0 ? undefined : firstError(stderr);
  }
  return `none of ${COMPILERS.join(", ")} can be started`;
}

function firstError(stderr: string): string {
  const lines = stderr.trim().split("\n");
  return lines.find((line) => /error|cannot find/.test(line)) ?? lines[0] ?? "the compiler failed";
}
