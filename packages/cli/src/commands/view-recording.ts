import { api } from "@downlink/protocol";
import { printable } from "@downlink/terminal/printable";
import { UsageError } from "../failures/failures.ts";
import { prepareView } from "../files/prepare-view.ts";
import { readArgument, readFilters } from "../flags/read-filters.ts";
import { readTime } from "../flags/time-flag.ts";
import type { Service } from "../login/open-service.ts";

/** The flags of `dl view`. */
export interface ViewFlags {
  readonly in?: string;
  readonly topic?: readonly string[];
  readonly start?: string;
  readonly end?: string;
  readonly project?: string;
}

/**
 * Prints the address that opens a recording in a viewer, or without one a link to its file that viewers read. Throws {@link UsageError} for an
 * unknown viewer, {@link RefusedError}, and what the service refuses.
 */
export async function viewRecording(service: Service, recording: string, flags: ViewFlags): Promise<void> {
  const { client } = service;
  const keyOrId = readArgument(api.recordings.get, "keyOrId", { name: "RECORDING", text: recording });
  const inProject = readFilters(api.recordings.get, { project: flags.project }, { project: "projectId" });
  const viewer = await findViewer(service, flags.in);
  const { id } = await client.call(api.recordings.get, { keyOrId, ...inProject });
  const [start, end] = [readTime("--start", flags.start), readTime("--end", flags.end)];
  const made = await prepareView(service, {
    recordingId: id,
    as: viewer?.as ?? "file",
    ...(flags.topic && { topics: [...flags.topic] }),
    ...(start !== undefined && { start }),
    ...(end !== undefined && { end }),
    ...inProject,
  });
  const address = made.viewers.find(({ name }) => name === viewer?.name)?.url;
  process.stdout.write(`${printable(address ?? made.link)}\n`);
}

async function findViewer({ client }: Service, wanted: string | undefined) {
  const viewers = await client.call(api.viewLinks.listViewers, {});
  if (wanted === undefined) return viewers.length === 1 ? viewers[0] : undefined;
  const found = viewers.find(({ name }) => name.toLowerCase() === wanted.toLowerCase());
  if (found) return found;
  const names = viewers.map(({ name }) => name).join(", ");
  throw new UsageError(
    viewers.length === 0
      ? "The operator named no viewers (DOWNLINK_VIEWERS); without --in, dl view prints a link to the file."
      : `--in must be one of ${names}, and is ${wanted}`,
  );
}
