import { once } from "node:events";
import type { Channel, Message } from "@downlink/messages/read-mcap";
import { api, type exportLinks, formatTimestamp, type Output } from "@downlink/protocol";
import { harmlessJson } from "@downlink/terminal/printable";
import { RefusedError, UsageError } from "../failures/failures.ts";
import { judgeTopics, noteGaps, requireData } from "../files/judge-export.ts";
import { readArgument, readFilters } from "../flags/read-filters.ts";
import { readTime } from "../flags/time-flag.ts";
import { readWhole } from "../flags/whole-number.ts";
import type { Service } from "../login/open-service.ts";
import { makeDecode } from "./decoders/decode.ts";
import type { Decode } from "./decoders/decoding.ts";
import { readSelection } from "./read-selection.ts";

/** The flags of `dl cat`. */
export interface CatFlags {
  readonly start?: string;
  readonly end?: string;
  readonly limit?: string;
  readonly raw?: "base64" | "hex";
  readonly project?: string;
}

interface Wanted {
  readonly recording: string;
  /** Without any, all. */
  readonly topics: readonly string[];
}

/**
 * Prints a line of JSON for each message, in the order of their log times, until the reader of the output goes away. Throws
 * {@link UsageError}, and {@link RefusedError} where a message could not be decoded, once all were printed.
 */
export async function catMessages(
  service: Service,
  wanted: Wanted,
  { output, ...flags }: CatFlags & { readonly output: NodeJS.WritableStream },
): Promise<void> {
  const limit = readLimit(flags.limit);
  const leaving = new AbortController();
  const leave = () => leaving.abort();
  output.once("error", leave);
  const signal = AbortSignal.any([service.signal, leaving.signal]);
  const toLine = lineMaker(flags.raw);
  let [count, failed] = [0, 0];
  try {
    for await (const message of await openSelection({ ...service, signal }, wanted, flags)) {
      const { text, isDecoded } = await toLine(message);
      if (!isDecoded) failed += 1;
      if (!output.write(text)) await once(output, "drain", { signal });
      count += 1;
      if (count === limit || leaving.signal.aborted) break;
    }
  } catch (error) {
    service.signal.throwIfAborted();
    if (!leaving.signal.aborted) throw error;
  } finally {
    output.off("error", leave);
  }
  if (failed > 0)
    throw new RefusedError(`${failed} of ${count} messages could not be decoded; --raw prints their bytes`);
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return Number.POSITIVE_INFINITY;
  return readWhole("--limit", text, { least: 1, most: Number.MAX_SAFE_INTEGER });
}

async function openSelection(service: Service, { recording, topics }: Wanted, flags: CatFlags) {
  const keyOrId = readArgument(api.recordings.get, "keyOrId", { name: "RECORDING", text: recording });
  const inProject = readFilters(api.recordings.get, { project: flags.project }, { project: "projectId" });
  const [start, end] = [readTime("--start", flags.start), readTime("--end", flags.end)];
  if (start !== undefined && end !== undefined && start > end) throw new UsageError("--end lies before --start.");
  const found = await service.client.call(api.recordings.get, { keyOrId, ...inProject });
  requireData(found, { start, end });
  const selection = {
    recordingId: found.id,
    compressionFormat: "zstd",
    ...(topics.length > 0 && { topics: [...topics] }),
    ...(start !== undefined && { start }),
    ...(end !== undefined && { end }),
    ...inProject,
  } as const;
  const onLink = async ({ unknownTopics: unknown, ...link }: Output<typeof exportLinks.create>) => {
    const asked = { recordingId: found.id, asked: topics, ...inProject, isEmptyWithout: true };
    if (unknown) await judgeTopics(service, { ...asked, unknown });
    noteGaps(link);
  };
  return readSelection(service, { selection, onLink });
}

interface Line {
  readonly text: string;
  readonly isDecoded: boolean;
}

function lineMaker(raw: CatFlags["raw"]): (message: Message) => Promise<Line> | Line {
  const decoders = new Map<Channel, Decode>();
  if (raw) return (message) => ({ text: lineOf(message, rawFields(message, raw)), isDecoded: true });
  return async (message) => {
    const { channel, data } = message;
    const decode = decoders.get(channel) ?? (await makeDecode(channel));
    decoders.set(channel, decode);
    try {
      return { text: lineOf(message, `"value":${decode(data)}`), isDecoded: true };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return { text: lineOf(message, `"error":${JSON.stringify(why)}`), isDecoded: false };
    }
  };
}

/** The decoded value is a text of JSON already. */
function lineOf({ logTimeNs, channel }: Message, rest: string): string {
  const time = JSON.stringify(formatTimestamp(logTimeNs));
  return `${harmlessJson(`{"time":${time},"topic":${JSON.stringify(channel.topic)},${rest}}`)}\n`;
}

function rawFields({ channel, data }: Message, form: "base64" | "hex"): string {
  const { messageEncoding: encoding, schemaName: schema } = channel;
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return JSON.stringify({ encoding, schema, raw: bytes.toString(form) }).slice(1, -1);
}
