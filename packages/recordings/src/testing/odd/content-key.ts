import { createHash } from "node:crypto";
import type { OddMessage } from "../odd-mcap.ts";

export type Content = Omit<OddMessage, "isSound">;

/** Answers one text for all that a message is. Equal messages have equal texts. */
export function keyOf({ topic, messageEncoding, schemaName, ...message }: Content): string {
  return JSON.stringify([topic, messageEncoding, schemaName, keyOfBody(message)]);
}

/** Answers the text without the channel, for files that contradict themselves about it. */
export function keyOfBody({
  logTimeNs,
  publishTimeNs,
  sequence,
  data,
}: Pick<Content, "logTimeNs" | "publishTimeNs" | "sequence" | "data">): string {
  const hash = createHash("sha1").update(data).digest("hex");
  return `${logTimeNs} ${publishTimeNs} ${sequence} ${data.byteLength}:${hash}`;
}

/** Answers what the first list has more often than the second. */
export function without(keys: readonly string[], others: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const key of others) counts.set(key, (counts.get(key) ?? 0) + 1);
  return keys.filter((key) => {
    const left = counts.get(key) ?? 0;
    counts.set(key, left - 1);
    return left <= 0;
  });
}
