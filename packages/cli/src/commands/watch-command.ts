import type { Changes } from "@downlink/protocol";
import { type Command, Option } from "commander";
import type { Flags } from "../flags/read-filters.ts";
import { withService } from "./run.ts";

const kinds = { recording: true, session: true, device: true, event: true, dataset: true } satisfies Record<
  Changes["changes"][number]["kind"],
  true
>;

export function addWatchCommand(program: Command): void {
  program
    .command("watch")
    .description("Print a line of JSON for each change from now on, until Ctrl-C")
    .addOption(new Option("--kind <kind...>", "only changes of these kinds of things").choices(Object.keys(kinds)))
    .option("--project <id>", "only those of a project")
    .option("--since <place>", "from where a former call ended: the `next` of its last line")
    .action(async (flags: Flags, command: Command) => {
      const { watchChanges } = await import("../watch/watch-changes.ts");
      const ends = { output: process.stdout, notes: process.stderr };
      await withService(command, (service) => watchChanges(service, flags, ends));
    });
}
