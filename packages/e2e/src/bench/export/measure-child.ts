import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Job, Measured } from "./child.ts";

const run = promisify(execFile);

export async function measureChild(job: Job): Promise<Measured> {
  const { stdout } = await run(process.execPath, [join(import.meta.dirname, "child.ts"), JSON.stringify(job)]);
  return JSON.parse(stdout) as Measured;
}
