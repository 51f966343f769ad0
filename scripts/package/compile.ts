import { globSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type BuildFacts, ROOT, runTool } from "./build-facts.ts";

/** Compiles the packages again: what earlier builds left of sources that are gone would be packed, too. */
export function compile(programs: readonly string[], facts: BuildFacts): void {
  // The pages of the console and of the guide are built otherwise.
  const former = globSync(["packages/*/dist", "packages/*/*.tsbuildinfo"], { cwd: ROOT });
  for (const path of former.filter((one) => !/^packages\/(console|guide)\//.test(one)))
    rmSync(join(ROOT, path), { recursive: true, force: true });
  const projects = programs.map((program) => join("packages", program));
  runTool([process.execPath, join(ROOT, "node_modules/typescript/bin/tsc"), "--build", ...projects], facts);
}
