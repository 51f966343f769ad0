import type { ExportFormat } from "@downlink/protocol";
import { type Command, Option } from "commander";
import type { ExportFlags } from "./export-recording.ts";
import type { GetFlags } from "./get-recording.ts";
import type { ImportFlags } from "./import-recordings.ts";
import { collect, withService } from "./run.ts";
import type { ViewFlags } from "./view-recording.ts";

/** The contract itself takes longer to load than the completion of a word may take. */
const formats = { mcap: true, bag1: true } satisfies Record<ExportFormat, true>;

export function addExportCommands(program: Command): void {
  addExport(program);
  addGet(program);
  addView(program);
  program
    .command("import <recording...>")
    .description("Request the import of recordings from their devices, or of a part of each")
    .option("--topic <name>", "only this topic, or those that fit a glob such as '/camera/*'; may be repeated", collect)
    .option("--start <time>", "only messages at or after this time")
    .option("--end <time>", "only messages at or before this time")
    .option("--or-whole", "import the whole recording where the agent is too old to send a part")
    .option("--estimate", "only print how much would be sent, and how long that would take")
    .option("--priority <number>", "higher comes first, from -1000 to 1000", "0")
    .option("--project <id>", "the project, if several have a recording with such a key")
    .option("--watch", "wait until each one is imported or has failed")
    .action(async (recordings: string[], flags: ImportFlags, command: Command) => {
      const { importRecordings } = await import("./import-recordings.ts");
      await withService(command, (service) => importRecordings(service, recordings, flags));
    });
}

function addGet(program: Command): void {
  program
    .command("get <recording>")
    .description("Fetch the file of a recording as it was uploaded; called again, it goes on where it stopped")
    .option("-o, --output <file>", "the output file; - is standard output; default: the name that the file had")
    .option("--project <id>", "the project, if several have a recording with this key")
    .option("--force", "overwrite an existing file")
    .action(async (recording: string, flags: GetFlags, command: Command) => {
      const { getRecording } = await import("./get-recording.ts");
      await withService(command, (service) => getRecording(service, recording, flags));
    });
}

function addView(program: Command): void {
  program
    .command("view <recording>")
    .description("Print the address that opens a recording in a viewer, or a link to its file that viewers read")
    .option("--in <viewer>", "a viewer that the operator named; default: the only one that there is")
    .option("--topic <name>", "only this topic; may be repeated", collect)
    .option("--start <time>", "only messages at or after this time")
    .option("--end <time>", "only messages at or before this time")
    .option("--project <id>", "the project, if several have a recording with this key")
    .action(async (recording: string, flags: ViewFlags, command: Command) => {
      const { viewRecording } = await import("./view-recording.ts");
      await withService(command, (service) => viewRecording(service, recording, flags));
    });
}

function addExport(program: Command): void {
  program
    .command("export <recording>")
    .description("Write the messages of a recording, or an exact part of them, to a file")
    .option("-o, --output <file>", "the output file; - is standard output; default: the name that the service gives it")
    .option("--topic <name>", "only this topic; may be repeated", collect)
    .option("--start <time>", "only messages at or after this time")
    .option("--end <time>", "only messages at or before this time")
    .option("--project <id>", "the project, if several have a recording with this key")
    .addOption(new Option("--format <format>", "format of the file").choices(Object.keys(formats)).default("mcap"))
    .addOption(
      new Option("--compression <compression>", "compression of its chunks")
        .choices(["lz4", "zstd", "none"])
        .default("lz4"),
    )
    .option("--attachments", "with the attachments of the recording")
    .option("--complete", "fail if a part of the data cannot be exported")
    .option("--force", "overwrite an existing file")
    .action(async (recording: string, flags: ExportFlags, command: Command) => {
      const { exportRecording } = await import("./export-recording.ts");
      await withService(command, (service) => exportRecording(service, recording, flags));
    });
}
