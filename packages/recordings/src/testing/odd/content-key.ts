import { createHash } from "node:crypto";
import type { OddMessage } from "../odd-mcap.ts";

export type Content = Omit<OddMessage, "isSound">;

/** One text for all that a message is; equal messages have equal ones. */
export function keyOf({ topic, messageEncoding, schemaName, ...message }: Content): string {
  return JSON.stringify([topic, messageEncoding, schemaName, keyOfBody(message)]);
}

/** The same but for its channel, for files that contradict themselves in that. */
export function keyOfBody({
  logTimeNs,
  publishTimeNs,
  sequence,
  data,
}: Pick<Content, "logTimeNs" | "publishTimeNs" | "sequence" | "data">): string {
  const hash = createHash("sha1").update(data).digest("hex");
  return `${logTimeNs} ${publishTimeNs} ${sequence} ${data.byteLength}:${hash}`;
}

/** What the first list has more of than the second, however often each stands in them. */
export function without(keys: readonly string[], others: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const key of others) counts.set(key, (counts.get(key) ?? 0) + 1);
  return keys.filter((key) => {
    const left = counts.get(key) ?? 0;
    counts.set(key, left - 1);
    return left <= 0;
  });
}
