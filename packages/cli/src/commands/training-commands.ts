import type { TrainingFormat, TrainingState } from "@downlink/protocol";
import { type Command, Option } from "commander";
import type { Flags } from "../flags/read-filters.ts";
import type { CreateFlags } from "../training/create-set.ts";
import type { PullSetFlags } from "../training/pull-set.ts";
import { inList, print } from "./list-commands.ts";
import { withService } from "./run.ts";

const formats = { "lerobot-v3": true, parquet: true } satisfies Record<TrainingFormat, true>;
const states = { building: true, ready: true, failed: true, expired: true } satisfies Record<TrainingState, true>;
const ends = { output: process.stdout, notes: process.stderr };

export function addTrainingCommands(program: Command): void {
  const sets = program
    .command("training-set")
    .description("Make training sets of the committed versions of datasets, which trainers open as they are");
  addCreate(sets);
  sets
    .command("pull <set>")
    .description("Fetch the files of a training set; called again, it fetches those that differ")
    .option("-o, --folder <folder>", "the folder; default: the id of the set")
    .action(async (set: string, flags: PullSetFlags, command: Command) => {
      const { pullSet } = await import("../training/pull-set.ts");
      await withService(command, (service) => pullSet(service, { ...flags, set, ...ends }));
    });
  addCheck(sets);
  inList(sets.command("ls"))
    .description("List training sets, the latest first")
    .option("--project <id>", "only those of a project")
    .option("--dataset <dataset>", "only those of a dataset, by its name or id")
    .addOption(new Option("--state <state>", "only those with this state").choices(Object.keys(states)))
    .action(async (flags: Flags, command: Command) => {
      const { listSets } = await import("../training/list-sets.ts");
      await print(listSets, flags, command);
    });
}

function addCheck(sets: Command): void {
  sets
    .command("check <folder>")
    .description(
      "Compare a set of the format lerobot-v3 with what a LeRobot reader expects, without the service; exit code 1 with any error",
    )
    .addOption(
      new Option("--output <format>", "how the findings are printed")
        .choices(["table", "json", "csv"])
        .default("table"),
    )
    .action(async (folder: string, { output: format }: { output: string }) => {
      const { checkSet } = await import("../check/check-set.ts");
      await checkSet({ folder, format, ...ends });
    });
}

function addCreate(sets: Command): void {
  sets
    .command("create <dataset> [version]")
    .description("Build a training set of a version, of the newest committed one if none is given, and wait for it")
    .requiredOption("--mapping <file>", "the file that says which topics or rows are wanted, in YAML or JSON")
    .option("--name <name>", "the name of the mapping; default: that of its file without the ending")
    .addOption(
      new Option("--format <format>", "format of the set; absent: what the mapping is for").choices(
        Object.keys(formats),
      ),
    )
    .addOption(
      new Option("--missing <treatment>", "the treatment of episodes of which data is not here")
        .choices(["fail", "leaveOut"])
        .default("fail"),
    )
    .option("--keep-days <days>", "how long its files are kept, from 1 to 365 days; default: 30")
    .option("-o, --folder <folder>", "fetch it into this folder")
    .option("--project <id>", "the project, if several have a dataset with this name")
    .action(async (...given: [string, string | undefined, CreateFlags, Command]) => {
      const [dataset, version, flags, command] = given;
      const { createSet } = await import("../training/create-set.ts");
      await withService(command, (service) => createSet(service, { ...flags, dataset, version, ...ends }));
    });
}
