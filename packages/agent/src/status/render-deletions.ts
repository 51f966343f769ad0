import { formatBytes } from "../text/amounts.ts";
import { type Layout, labelled } from "../text/screen.ts";
import type { StatusDocument } from "./status-schema.ts";

type Deletions = StatusDocument["deletions"];

const words: Readonly<Record<Deletions["planned"][number]["reason"], string>> = {
  imported: "imported",
  retention: "older than the retention",
  space: "imported, for space",
  prune: "not imported, for space",
};

/** Shows what will be deleted, by rule, and what waits; no line where nothing will be. */
export function renderDeletions({ deletions }: StatusDocument, layout: Layout): string[] {
  const { planned, nextPath, waiting, heldUntil } = deletions;
  const parts = planned.map(({ reason, files, bytes }) => `${files} ${words[reason]} (${formatBytes(bytes)})`);
  const next = nextPath === null ? [] : [`next ${nextPath}`];
  const later = waiting.files === 0 ? [] : [`${waiting.files} imported may not go yet (${waiting.text})`];
  const held = heldUntil === null ? [] : [`nothing for its age before ${heldUntil.slice(0, 16)}Z`];
  const line = [...parts, ...later, ...held, ...next].join(", ");
  return line === "" ? [] : labelled("Deleting", line, layout);
}
