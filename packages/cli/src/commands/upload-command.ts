import type { Command } from "commander";
import type { Flags } from "../flags/read-filters.ts";
import { withService } from "./run.ts";

export function addUploadCommand(program: Command): void {
  program
    .command("upload [file...]")
    .description("Upload recordings in parts; called again, it goes on where it stopped")
    .option("--device <name>", "the device that they are of; it is made where it is missing")
    .option("--project <id>", "the project, if there are several")
    .option("--session-key <key>", "the session that they join; it is made where it is missing")
    .option("--key <key>", "the key of the recording, for one file")
    .option("--watch <folder>", "upload each recording that appears in the folder, once it is no longer written")
    .action(async (files: string[], flags: Flags, command: Command) => {
      const { uploadFiles } = await import("../upload/upload-files.ts");
      await withService(command, (service) => uploadFiles(service, { files, flags, url: service.url }));
    });
}
