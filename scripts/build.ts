// Emits every package's dist/ with its declarations, for those who run it outside this checkout.
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";

const { status, error } = spawnSync("tsc", ["--build", "--verbose"], {
  cwd: resolve(import.meta.dirname, ".."),
  stdio: "inherit",
});
if (error) throw error;
process.exitCode = status ?? 1;
