import { type CallInput, events, NEXT_CURSOR_HEADER, type RecordingFilter, recordings } from "@downlink/protocol";
import { client } from "../api/client.ts";
import { type EpisodeRequest, importedOf, toSlice } from "./episode-request.ts";

/** The rows of which episodes are made, one of each. */
export type EpisodeSource =
  | {
      readonly kind: "recordings";
      /** The imported recordings among those that it finds. */
      readonly filter: RecordingFilter;
      /** The span outside of which nothing of a recording is taken; absent for recordings as they are. */
      readonly within?: { readonly startNs: bigint; readonly endNs: bigint };
    }
  | { readonly kind: "events"; readonly filter: Omit<CallInput<typeof events.list>, "limit" | "cursor"> }
  /** Some rows, by their ids. */
  | { readonly kind: "recordings" | "events"; readonly ids: readonly string[] };

/** The most episodes of one call. */
const PAGE = 2000;

/** Returns the episodes to ask for, page after page, each as large as a call takes. */
export async function* requestEpisodes(source: EpisodeSource, signal: AbortSignal): AsyncGenerator<EpisodeRequest[]> {
  if ("ids" in source) {
    const toRequest = (id: string) => (source.kind === "events" ? { eventId: id } : { recordings: [id] });
    for (let at = 0; at < source.ids.length; at += PAGE) yield source.ids.slice(at, at + PAGE).map(toRequest);
    return;
  }
  if (source.kind === "events") {
    const ask = (cursor: Cursor) => client.callWithHeaders(events.list, { ...source.filter, ...cursor }, { signal });
    for await (const page of listAll(ask)) yield page.map(({ id }) => ({ eventId: id }));
    return;
  }
  const filter = importedOf(source.filter);
  if (!filter) return;
  const ask = (cursor: Cursor) => client.callWithHeaders(recordings.list, { ...filter, ...cursor }, { signal });
  for await (const page of listAll(ask)) yield page.map((recording) => toSlice(recording, source.within));
}

interface Cursor {
  readonly limit: number;
  readonly cursor?: string;
}

interface Page<T> {
  readonly output: T[];
  readonly headers: Readonly<Record<string, string | undefined>>;
}

async function* listAll<T>(ask: (cursor: Cursor) => Promise<Page<T>>): AsyncGenerator<T[]> {
  let cursor: string | undefined;
  do {
    const { output, headers } = await ask({ limit: PAGE, ...(cursor !== undefined && { cursor }) });
    if (output.length > 0) yield output;
    cursor = headers[NEXT_CURSOR_HEADER];
  } while (cursor !== undefined);
}
