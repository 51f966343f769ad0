import { type Command, Option } from "commander";
import type { Flags } from "../flags/read-filters.ts";
import { withService } from "./run.ts";

export function addCoverageCommand(program: Command): void {
  program
    .command("coverage")
    .description("Draw at which times each device has data, imported or not")
    .option("--project <id>", "only devices of a project")
    .option("--device <name>", "only this device")
    .option("--start <time>", "from this time; without it, from the first data")
    .option("--end <time>", "to this time; without it, to the last data")
    .option("--limit <count>", "draw at most so many devices", "50")
    .addOption(
      new Option("--output <format>", "json and csv: the ranges of time as the service returns them")
        .choices(["table", "json", "csv"])
        .default("table"),
    )
    .action(async (flags: Flags, command: Command) => {
      const { showCoverage } = await import("../coverage/show-coverage.ts");
      await withService(command, (service) => showCoverage(service, flags));
    });
}
