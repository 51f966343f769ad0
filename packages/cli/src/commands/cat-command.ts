import { type Command, Option } from "commander";
import type { CatFlags } from "../cat/cat-messages.ts";
import { withService } from "./run.ts";

export function addCatCommand(program: Command): void {
  program
    .command("cat <recording> [topic...]")
    .description("Print each message of a recording, or of some of its topics, as a line of JSON")
    .option("--start <time>", "only messages at or after this time")
    .option("--end <time>", "only messages at or before this time")
    .option("--limit <count>", "at most so many")
    .addOption(new Option("--raw <form>", "the bytes of the messages, not decoded").choices(["base64", "hex"]))
    .option("--project <id>", "the project, if several have a recording with this key")
    .action(async (...given: [string, readonly string[], CatFlags, Command]) => {
      const [recording, topics, flags, command] = given;
      const { catMessages } = await import("../cat/cat-messages.ts");
      const output = process.stdout;
      await withService(command, (service) => catMessages(service, { recording, topics }, { ...flags, output }));
    });
}
