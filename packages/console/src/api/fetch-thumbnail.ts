import { MAX_THUMBNAIL_RECORDINGS, type Output, thumbnails } from "@downlink/protocol";
import { client } from "./client.ts";

export type Thumbnail = Output<typeof thumbnails.list>["thumbnails"][number];

interface Waiting {
  readonly recordingId: string;
  readonly resolve: (thumbnail: Thumbnail | null) => void;
  readonly reject: (error: unknown) => void;
}

let waiting: Waiting[] = [];

/** Fetches one small picture of a recording; null: it has none. All that are wanted in one turn come by one call. */
export function fetchThumbnail(recordingId: string): Promise<Thumbnail | null> {
  return new Promise((resolve, reject) => {
    if (waiting.length === 0) setTimeout(() => fetchWaiting().catch(() => undefined));
    waiting.push({ recordingId, resolve, reject });
  });
}

async function fetchWaiting(): Promise<void> {
  const asked = waiting;
  waiting = [];
  for (let from = 0; from < asked.length; from += MAX_THUMBNAIL_RECORDINGS) {
    const some = asked.slice(from, from + MAX_THUMBNAIL_RECORDINGS);
    try {
      const answer = await client.call(thumbnails.list, { recordingIds: some.map(({ recordingId }) => recordingId) });
      const found = new Map(answer.thumbnails.map((one) => [one.recordingId, one]));
      for (const { recordingId, resolve } of some) resolve(found.get(recordingId) ?? null);
    } catch (error) {
      for (const { reject } of some) reject(error);
    }
  }
}
