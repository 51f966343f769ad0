// Builds the documentation as a site: npm run guide. A control plane of this checkout that runs serves it from then on.
import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";

const GUIDE = resolve(import.meta.dirname, "../packages/guide");
const vitepress = join(GUIDE, "node_modules/vitepress/bin/vitepress.js");

const { status, error } = spawnSync(process.execPath, [vitepress, "build", GUIDE], { stdio: "inherit" });
if (error) throw error;
process.exitCode = status ?? 1;
