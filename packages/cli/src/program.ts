import { readFileSync } from "node:fs";
import { exportFormats } from "@downlink/protocol";
import { beginWithName } from "@downlink/terminal/command-errors";
import { harmlessJson } from "@downlink/terminal/printable";
import { Command, Option } from "commander";
import type { ExportFlags } from "./commands/export-recording.ts";
import type { GetFlags } from "./commands/get-recording.ts";
import type { Listing } from "./commands/list-recordings.ts";
import { InterruptedError } from "./failures/failures.ts";
import { openService, type Service } from "./login/open-service.ts";

/** Commands are imported when they are called, so that each begins quickly. */
export const program = new Command("dl")
  .description("Lists, fetches and exports the recordings of a Downlink control plane.")
  .version(versionOf(new URL("../package.json", import.meta.url)), "--version")
  .option("--url <url>", "the control plane [DOWNLINK_API_URL]; without it, the one of `dl login`")
  .addHelpText(
    "after",
    "\nThe API key comes from DOWNLINK_API_KEY, or from `dl login`. Exit codes: 0 done, 1 error, 2 usage, 130 Ctrl-C, 143 SIGTERM.",
  )
  .configureOutput(beginWithName("dl"))
  .exitOverride();

program
  .command("login [url]")
  .description("Save the address of a control plane and an API key, which is asked for or read from standard input")
  .action(async (url: string | undefined) => {
    const { logIn } = await import("./login/log-in.ts");
    const given = url ?? urlFlag() ?? (process.env.DOWNLINK_API_URL || undefined);
    const { url: kept, file } = await logIn(given, { input: process.stdin, notes: process.stderr });
    process.stdout.write(`The API key for ${kept} works, and is in ${file}.\n`);
  });

program
  .command("ls")
  .description("List recordings, the newest first")
  .option("--project <id>", "only those of a project")
  .option("--device <name>", "only those of a device")
  .option("--path <part>", "only those with this text in their path, in upper or lower case")
  .option("--topic <name>", "only those with this topic")
  .option("--start <time>", "only those with data at or after this time")
  .option("--end <time>", "only those with data at or before this time")
  .option("--status <status>", "only those whose import is none, pending, importing, failed or complete")
  .option("--limit <count>", "at most this many", "50")
  .option("--json", "as a JSON array, as the service returns them")
  .action(async (listing: Listing & { json?: true }) => {
    const { asAnswered, listRecordings, renderRecordings } = await import("./commands/list-recordings.ts");
    await withService(async (service) => {
      const page = await listRecordings(service, listing);
      const columns = process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY;
      process.stdout.write(listing.json ? toJson(asAnswered(page)) : renderRecordings(page, columns));
    });
  });

program
  .command("export <recording>")
  .description("Write the messages of a recording, or an exact part of them, to a file")
  .option("-o, --output <file>", "the output file; - is standard output; default: the name that the service gives it")
  .option("--topic <name>", "only this topic; may be repeated", collect)
  .option("--start <time>", "only messages at or after this time")
  .option("--end <time>", "only messages at or before this time")
  .option("--project <id>", "the project, if several have a recording with this key")
  .addOption(new Option("--format <format>", "format of the file").choices(exportFormats).default("mcap"))
  .addOption(
    new Option("--compression <compression>", "compression of its chunks")
      .choices(["lz4", "zstd", "none"])
      .default("lz4"),
  )
  .option("--attachments", "with the attachments of the recording")
  .option("--complete", "fail if a part of the data cannot be exported")
  .option("--force", "overwrite an existing file")
  .action(async (recording: string, flags: ExportFlags) => {
    const { exportRecording } = await import("./commands/export-recording.ts");
    await withService((service) => exportRecording(service, recording, flags));
  });

program
  .command("get <recording>")
  .description("Fetch the file of a recording as it was uploaded; called again, it goes on where it stopped")
  .option("-o, --output <file>", "the output file; - is standard output; default: the name that the file had")
  .option("--project <id>", "the project, if several have a recording with this key")
  .option("--force", "overwrite an existing file")
  .action(async (recording: string, flags: GetFlags) => {
    const { getRecording } = await import("./commands/get-recording.ts");
    await withService((service) => getRecording(service, recording, flags));
  });

program
  .command("import <recording...>")
  .description("Request the import of recordings from their devices")
  .option("--priority <number>", "higher comes first, from -1000 to 1000", "0")
  .option("--project <id>", "the project, if several have a recording with such a key")
  .option("--watch", "wait until each one is imported or has failed")
  .action(async (recordings: string[], flags: { priority: string; project?: string; watch?: true }) => {
    const { importRecordings } = await import("./commands/import-recordings.ts");
    await withService((service) => importRecordings(service, recordings, flags));
  });

function versionOf(manifest: URL): string {
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function urlFlag(): string | undefined {
  return program.opts<{ url?: string }>().url;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** A signal ends what is under way, so that it can put away what it began. The same signal again ends the program at once. */
async function withService(work: (service: Service) => Promise<void>): Promise<void> {
  const interrupting = new AbortController();
  for (const signal of SIGNALS) process.once(signal, () => interrupting.abort(new InterruptedError(signal)));
  await using service = openService({ url: urlFlag(), environment: process.env, signal: interrupting.signal });
  await work(service);
}

function toJson(value: unknown): string {
  return `${harmlessJson(JSON.stringify(value, undefined, 2))}\n`;
}
