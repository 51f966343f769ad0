import { writeFileSync } from "node:fs";
import { publishedFiles } from "./published-files.ts";

for (const [path, text] of Object.entries(publishedFiles()))
  writeFileSync(new URL(`../../../../${path}`, import.meta.url), text);
