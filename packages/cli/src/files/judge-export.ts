import { ApiCallError } from "@downlink/client";
import { api, type exportLinks, formatTimestamp, type Output } from "@downlink/protocol";
import { printable } from "@downlink/terminal/printable";
import { RefusedError } from "../failures/failures.ts";
import type { Service } from "../login/open-service.ts";

/** Topics that were asked for and that the recording does not have. */
export interface UnknownTopics {
  readonly recordingId: string;
  readonly unknown: readonly string[];
  readonly asked: readonly string[] | undefined;
  readonly projectId?: string | undefined;
  /** Whether without a topic there is nothing to export. */
  readonly isEmptyWithout: boolean;
}

const NAMED_TOPICS = 20;

/** Says which topics the recording has in the place of unknown ones. Throws {@link RefusedError} where nothing would be left to export. */
export async function judgeTopics({ client }: Service, topics: UnknownTopics): Promise<void> {
  const { recordingId, unknown, asked, projectId, isEmptyWithout } = topics;
  const query = { recordingId, limit: NAMED_TOPICS + 1, ...(projectId !== undefined && { projectId }) };
  const known = await client.call(api.topics.list, query).catch((error: unknown) => {
    if (error instanceof ApiCallError && error.status === 403) return []; // the key may export, and not list topics
    throw error;
  });
  const names = [...new Set(known.slice(0, NAMED_TOPICS).map(({ topic }) => topic))];
  const more = known.length > NAMED_TOPICS ? " and more" : "";
  const instead = names.length === 0 ? "" : `; it has ${names.join(", ")}${more}`;
  const text = `the recording has no topic ${unknown.join(", ")}${instead}`;
  if (new Set(asked).size <= unknown.length && isEmptyWithout) throw new RefusedError(text);
  say(text);
}

interface Span {
  readonly start?: bigint | undefined;
  readonly end?: bigint | undefined;
}

/** Throws {@link RefusedError} where a recording has no data in the window. */
export function requireData({ start, end }: { start: bigint; end: bigint }, window: Span): void {
  const isOutside = (window.start ?? start) > end || (window.end ?? end) < start;
  if (isOutside)
    throw new RefusedError(
      `the recording has no data at that time: it is of ${formatTimestamp(start)} to ${formatTimestamp(end)}`,
    );
}

/** Says what an export will not have, before it is there. */
export function noteGaps({ damage, missing }: Pick<Output<typeof exportLinks.create>, "damage" | "missing">): void {
  if (missing) say("a part of the data cannot be exported now; --complete refuses such an export");
  if (damage) say("a part of the recording is damaged, and the file says which in its record downlink.export");
}

function say(text: string): void {
  process.stderr.write(`dl: ${printable(text)}\n`);
}
