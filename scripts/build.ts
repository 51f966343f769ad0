// Emits every package's dist/ with its declarations, for those who run it outside this checkout, and builds the guide.
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "..");

process.exitCode = run("tsc", "--build", "--verbose") || run(process.execPath, "scripts/build-guide.ts");

/** Returns the program's exit code. */
function run(program: string, ...args: string[]): number {
  const { status, error } = spawnSync(program, args, { cwd: ROOT, stdio: "inherit" });
  if (error) throw error;
  return status ?? 1;
}
