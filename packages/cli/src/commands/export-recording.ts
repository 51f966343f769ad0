import { pipeline } from "node:stream/promises";
import { ApiCallError } from "@downlink/client";
import { getStream } from "@downlink/client/node";
import { api, type CallInput, type ExportFormat, exportLinks } from "@downlink/protocol";
import { formatBytes } from "@downlink/terminal/amounts";
import { printable } from "@downlink/terminal/printable";
import { RefusedError, UsageError } from "../failures/failures.ts";
import { fetchFile } from "../files/fetch-file.ts";
import { judgeTopics, noteGaps, requireData, type UnknownTopics } from "../files/judge-export.ts";
import { openOutput } from "../files/output-file.ts";
import { endView, prepareView } from "../files/prepare-view.ts";
import { showProgress } from "../files/progress.ts";
import { safeName } from "../files/safe-name.ts";
import { readArgument, readFilters } from "../flags/read-filters.ts";
import { readTime } from "../flags/time-flag.ts";
import type { Service } from "../login/open-service.ts";

/** The flags of `dl export`. */
export interface ExportFlags {
  readonly output?: string;
  readonly topic?: readonly string[];
  readonly start?: string;
  readonly end?: string;
  readonly project?: string;
  readonly format: ExportFormat;
  readonly compression: "lz4" | "zstd" | "none";
  readonly attachments?: true;
  readonly complete?: true;
  readonly force?: true;
}

type Wanted = CallInput<typeof exportLinks.create> & { readonly recordingId: string };

/** A part of a larger recording is made at the service first, so that a break costs nothing. */
const PREPARED_BYTES = 64_000_000;

/**
 * Writes a file that is whole or not there. Throws {@link UsageError}, {@link RefusedError} where the recording has none of the topics or no
 * data at that time, and what the service and the disk refuse.
 */
export async function exportRecording(service: Service, given: string, flags: ExportFlags): Promise<void> {
  const keyOrId = readArgument(api.recordings.get, "keyOrId", { name: "RECORDING", text: given });
  const selection = selectionOf(flags);
  const recording = await service.client.call(api.recordings.get, { keyOrId, ...inProject(flags) });
  const { id, size } = recording;
  if (!flags.attachments) requireData(recording, selection);
  const wanted = { recordingId: id, ...selection };
  if (size > PREPARED_BYTES && isPart(flags) && (await exportPrepared(service, wanted, flags))) return;
  const link = await service.client.call(exportLinks.create, wanted);
  if (link.unknownTopics) await judgeTopics(service, unknownOf(id, link.unknownTopics, flags));
  noteGaps(link);
  const source = () => getStream(link.link, { signal: service.signal, dispatcher: service.dispatcher });
  if (flags.output === "-") return await pipeline(source, process.stdout, { end: false });
  await using output = await openOutput(flags.output ?? safeName(link.fileName), { force: flags.force === true });
  using progress = showProgress(process.stderr);
  for await (const chunk of source()) {
    await output.write(chunk);
    progress.add(chunk.length);
  }
  await output.keep();
  progress.end();
  process.stderr.write(`${printable(output.path)}: ${formatBytes(output.sizeBytes)}\n`);
}

/** Says whether a part of the messages is wanted as a file. As a whole, a recording is served as it was uploaded: that is `dl get`. */
function isPart({ output, format, attachments, topic, start, end }: ExportFlags): boolean {
  return output !== "-" && format === "mcap" && !attachments && (topic ?? start ?? end) !== undefined;
}

/**
 * Lets the service make the file first, which then is fetched as `dl get` does: going on after each break. Returns false where it makes none,
 * because the key may not ask for it, or the file would be too large. Then it is streamed, in one go.
 */
async function exportPrepared(service: Service, wanted: Wanted, flags: ExportFlags): Promise<boolean> {
  const view = await prepareView(service, { ...wanted, as: "file" }).catch((error: unknown) => {
    const isRefused = error instanceof RefusedError || (error instanceof ApiCallError && error.status < 500);
    if (isRefused) return undefined;
    throw error;
  });
  if (!view?.contentSha256) return false;
  if (view.unknownTopics) await judgeTopics(service, unknownOf(wanted.recordingId, view.unknownTopics, flags));
  noteGaps(view);
  const file = { sizeBytes: view.size ?? 0, sha256: view.contentSha256, link: async () => view.link };
  const path = flags.output ?? safeName(view.fileName);
  const output = await fetchFile(service, file, { path, force: flags.force === true });
  await endView(service, view.id);
  process.stderr.write(`${printable(output.path)}: ${formatBytes(output.sizeBytes)}, its SHA-256 is right\n`);
  return true;
}

function selectionOf(flags: ExportFlags): Omit<CallInput<typeof exportLinks.create>, "recordingId"> {
  const { topic, format, compression, attachments, complete } = flags;
  const [start, end] = [readTime("--start", flags.start), readTime("--end", flags.end)];
  if (format === "bag1" && compression === "zstd") throw new UsageError("A bag cannot be compressed with zstd.");
  if (start !== undefined && end !== undefined && start > end) throw new UsageError("--end lies before --start.");
  return {
    outputFormat: format,
    compressionFormat: compression === "none" ? "" : compression,
    ...(topic ? { topics: [...topic] } : {}),
    ...(start === undefined ? {} : { start }),
    ...(end === undefined ? {} : { end }),
    ...(attachments ? { includeAttachments: true } : {}),
    ...(complete ? { requireComplete: true } : {}),
    ...inProject(flags),
  };
}

const inProject = ({ project }: ExportFlags) => readFilters(api.recordings.get, { project }, { project: "projectId" });

function unknownOf(recordingId: string, unknown: readonly string[], flags: ExportFlags): UnknownTopics {
  const { topic: asked, attachments } = flags;
  return { recordingId, unknown, asked, ...inProject(flags), isEmptyWithout: !attachments };
}
