import { formatTimestamp, type Recording } from "@downlink/protocol";
import { pagePath } from "../url/project.ts";

type Timed = Pick<Recording, "id" | "projectId" | "start" | "end">;

const AROUND_NS = 2_000_000_000n;

/** Returns the address at which a recording's page shows a topic at a time. */
export function pathAt({ id, projectId, start, end }: Timed, { topic, timeNs }: { topic: string; timeNs: bigint }) {
  const search = new URLSearchParams({ topics: topic });
  const latestNs = timeNs < end ? timeNs : end;
  const atNs = latestNs > start ? latestNs : start;
  const fromNs = atNs - AROUND_NS;
  search.set("from", formatTimestamp(fromNs > start ? fromNs : start));
  if (atNs + AROUND_NS < end) search.set("to", formatTimestamp(atNs + AROUND_NS));
  search.set("at", formatTimestamp(atNs));
  return `${pagePath(projectId, "recordings", id)}?${search}`;
}
