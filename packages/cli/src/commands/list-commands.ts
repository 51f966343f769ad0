import type { ImportStatus } from "@downlink/protocol";
import { type Command, Option } from "commander";
import { UsageError } from "../failures/failures.ts";
import type { Flags } from "../flags/read-filters.ts";
import type { List } from "../lists/list.ts";
import type { PullFlags } from "../pull/pull-dataset.ts";
import { withService } from "./run.ts";

const statuses = {
  none: true,
  pending: true,
  importing: true,
  failed: true,
  complete: true,
} satisfies Record<ImportStatus, true>;

export function addListCommands(program: Command): void {
  addRecordings(program);
  addDevices(program);
  addEvents(program);
  addTopics(program);
  addDatasets(program);
}

function addRecordings(program: Command): void {
  inList(program.command("ls"))
    .description("List recordings, the newest first")
    .option("--project <id>", "only those of a project")
    .option("--device <name>", "only those of a device")
    .option("--path <part>", "only those with this text in their path, in upper or lower case")
    .option("--topic <name>", "only those with this topic")
    .option("--start <time>", "only those with data at or after this time")
    .option("--end <time>", "only those with data at or before this time")
    .option(
      "--metadata-query <terms>",
      "only those with a metadata record that matches, such as 'operator:ann,bob note:*'",
    )
    .addOption(
      new Option("--status <status>", "only those whose import has this status").choices(Object.keys(statuses)),
    )
    .addOption(new Option("--json", "the same as --output json").conflicts("output"))
    .action(async (flags: Flags, command: Command) => {
      const { listRecordings } = await import("../lists/list-recordings.ts");
      await print(listRecordings, flags, command);
    });
}

function addDevices(program: Command): void {
  inList(program.command("devices"))
    .description("List devices by name")
    .option("--project <id>", "only those of a project")
    .option("--name <part>", "only those with this text in their name, in upper or lower case")
    .option("--query <terms>", "only those whose custom properties match, such as 'properties.site:berlin'")
    .action(async (flags: Flags, command: Command) => {
      const { listDevices } = await import("../lists/list-devices.ts");
      await print(listDevices, flags, command);
    });
}

function addEvents(program: Command): void {
  inList(program.command("events"))
    .description("List events, the newest first")
    .option("--project <id>", "only those of a project")
    .option("--device <name>", "only those of a device")
    .option("--type <type>", "only those of this event type, by its name or id")
    .option("--start <time>", "only those that touch this time or a later one")
    .option("--end <time>", "only those that touch this time or an earlier one")
    .option("--created-after <time>", "only those that were created after this time")
    .option("--updated-after <time>", "only those that were changed after this time")
    .option("--query <terms>", "only those whose metadata match, such as 'reason:estop,fall zone:*'")
    .option("--query-fields <fields>", "where the query is looked for: metadata, properties, or both with a comma")
    .action(async (flags: Flags, command: Command) => {
      const { listEvents } = await import("../lists/list-events.ts");
      await print(listEvents, flags, command);
    });
}

function addTopics(program: Command): void {
  inList(program.command("topics [recording]"))
    .description("List the topics of a recording with their messages, or those of many recordings")
    .option("--project <id>", "only those of a project")
    .option("--device <name>", "only those of a device")
    .option("--start <time>", "only those of recordings that end at this time or after it")
    .option("--end <time>", "only those of recordings that start at this time or before it")
    .action(async (recording: string | undefined, flags: Flags, command: Command) => {
      const { listTopics, listTopicsOf } = await import("../lists/list-topics.ts");
      if (recording === undefined) return await print(listTopics, flags, command);
      if (flags.device !== undefined || flags.start !== undefined || flags.end !== undefined)
        throw new UsageError("The topics are either those of RECORDING, or selected by --device, --start and --end.");
      await print(listTopicsOf(recording), flags, command);
    });
}

function addDatasets(program: Command): void {
  const datasets = inList(program.command("datasets"))
    .description("List datasets, the one that changed last first, or the versions of one")
    .option("--project <id>", "only those of a project")
    .option("--name <part>", "only those with this text in their name, in upper or lower case")
    .action(async (flags: Flags, command: Command) => {
      const { listDatasets } = await import("../lists/list-datasets.ts");
      await print(listDatasets, flags, command);
    });
  datasets
    .command("versions <dataset>")
    .description("List the versions of a dataset, which is named by its id, the newest first")
    .configureHelp({ showGlobalOptions: true })
    .action(async (dataset: string, _flags: Flags, command: Command) => {
      const { listVersionsOf } = await import("../lists/list-datasets.ts");
      const flags = command.optsWithGlobals<Flags>(); // The parent takes them wherever they are.
      if (flags.project !== undefined || flags.name !== undefined)
        throw new UsageError("--project and --name select datasets, and no versions.");
      await print(listVersionsOf(dataset), flags, command);
    });
  addPull(datasets);
}

function addPull(datasets: Command): void {
  datasets
    .command("pull <dataset> [version]")
    .description(
      "Write each episode of a committed version to an MCAP file of its own; called again, it completes the folder",
    )
    .option("-o, --folder <folder>", "the folder; default: the name of the dataset and the version")
    .option("--check", "compare the folder with its manifest and with the service instead")
    .option("--project <id>", "the project, if several have a dataset with this name")
    .action(async (...given: [string, string | undefined, PullFlags, Command]) => {
      const [dataset, version, , command] = given;
      const { pullDataset } = await import("../pull/pull-dataset.ts");
      const ends = { output: process.stdout, notes: process.stderr };
      const flags = { ...command.optsWithGlobals<PullFlags>(), dataset, version, ...ends };
      if ("name" in flags) throw new UsageError("--name selects datasets to list: DATASET takes a name.");
      await withService(command, (service) => pullDataset(service, flags));
    });
}

/** Adds the flags that each list has. */
export function inList(command: Command): Command {
  return command
    .option("--limit <count>", "at most this many", "50")
    .addOption(
      new Option("--output <format>", "json: as the service returns it")
        .choices(["table", "json", "csv"])
        .default("table"),
    );
}

export async function print<Row>(list: List<Row>, flags: Flags, command: Command): Promise<void> {
  const { printList } = await import("../lists/write-list.ts");
  await withService(command, (service) => printList(service, list, flags));
}
