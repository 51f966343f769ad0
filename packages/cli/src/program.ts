import { readFileSync } from "node:fs";
import { beginWithName } from "@downlink/terminal/command-errors";
import { Command } from "commander";
import { addCatCommand } from "./commands/cat-command.ts";
import { addCompletionCommands } from "./commands/completion-commands.ts";
import { addCoverageCommand } from "./commands/coverage-command.ts";
import { addExportCommands } from "./commands/export-commands.ts";
import { addListCommands } from "./commands/list-commands.ts";
import { addLoginCommands } from "./commands/login-commands.ts";
import { addTrainingCommands } from "./commands/training-commands.ts";
import { addUploadCommand } from "./commands/upload-command.ts";
import { addWatchCommand } from "./commands/watch-command.ts";

/** Commands are imported when they are called, so that each begins quickly. */
export const program = new Command("dl")
  .description(
    "Lists, uploads, fetches and exports the recordings of a Downlink control plane, and shows what else it has.",
  )
  .version(versionOf(new URL("../package.json", import.meta.url)), "--version")
  .option("--url <url>", "the control plane [DOWNLINK_API_URL]; without it, the one of `dl login`")
  .addHelpText(
    "after",
    "\nThe API key comes from DOWNLINK_API_KEY; without it, `dl login` counts. Exit codes: 0 done, 1 error, 2 usage, 130 Ctrl-C, 143 SIGTERM.",
  )
  .configureOutput(beginWithName("dl"))
  .exitOverride();

addLoginCommands(program);
addListCommands(program);
addTrainingCommands(program);
addExportCommands(program);
addUploadCommand(program);
addCatCommand(program);
addCoverageCommand(program);
addWatchCommand(program);
addCompletionCommands(program);

function versionOf(manifest: URL): string {
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
}
