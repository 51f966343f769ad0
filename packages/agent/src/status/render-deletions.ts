import { countOf, formatBytes } from "@downlink/terminal/amounts";
import { age, asPrinted, clockTime, type Layout, labelled } from "../text/screen.ts";
import type { StatusDocument } from "./status-schema.ts";

type Deletions = StatusDocument["deletions"];
type Planned = Deletions["planned"][number];

const words: Readonly<Record<Planned["reason"], string>> = {
  imported: "imported",
  retention: "older than the retention",
  space: "imported, for space",
  prune: "not imported, for space",
};

/** Shows what will be deleted, by rule, what waits, and what was deleted; no line where there is nothing. */
export function renderDeletions({ deletions }: StatusDocument, layout: Layout): string[] {
  return [
    ...rowOf("Deleting", deletingText(deletions), layout),
    ...rowOf("Disk limit", limitText(deletions, layout), layout),
    ...rowOf("Deleted", deletedText(deletions, layout), layout),
  ];
}

function rowOf(label: string, text: string, layout: Layout): string[] {
  return text === "" ? [] : labelled(label, text, layout);
}

function deletingText(deletions: Deletions): string {
  const { nextPath, waiting, heldUntil } = deletions;
  const planned = deletions.planned.filter((rule) => !isHeld(rule));
  const parts = planned.map(({ reason, files, bytes }) => `${files} ${words[reason]} (${formatBytes(bytes)})`);
  const hasNext = nextPath !== null && (planned.length > 0 || !deletions.planned.some(isHeld));
  const next = hasNext ? [`next ${nextPath}`] : [];
  const later = waiting.files === 0 ? [] : [`${waiting.files} imported may not be deleted yet (${waiting.text})`];
  const held = heldUntil === null ? [] : [`nothing for its age before ${heldUntil.slice(0, 16)}Z`];
  return [...parts, ...later, ...held, ...next].join(", ");
}

/** A running agent may be older than this command, and not hold anything. */
function isHeld({ heldUntil }: Partial<Planned>): boolean {
  return (heldUntil ?? null) !== null;
}

/** Says what a new disk limit would delete. */
function limitText({ planned }: Deletions, layout: Layout): string {
  const held = planned.filter(isHeld);
  const heldUntil = held[0]?.heldUntil ?? null;
  if (heldUntil === null) return "";
  const sum = (part: "files" | "bytes") => held.reduce((total, rule) => total + rule[part], 0);
  const pruned = held.find(({ reason }) => reason === "prune")?.files ?? 0;
  const files = sum("files");
  const share = pruned === files ? "" : `${pruned} of them `;
  const lost = pruned === 0 ? "" : `, ${share}never imported,`;
  return [
    `would delete ${countOf(files, "file")} (${formatBytes(sum("bytes"))})${lost} to keep below the limit;`,
    `begins at ${clockTime(heldUntil, layout.nowMs)}, ${asPrinted("`agent confirm`", layout)} begins now,`,
    "removing the limit from the settings stops it",
  ].join(" ");
}

function deletedText({ deletedFiles, last }: Deletions, { nowMs }: Layout): string {
  if (deletedFiles === 0) return "";
  const latest = last[0] ? `, the last one ${age(last[0].deletedAt, nowMs)} ago` : "";
  return `${countOf(deletedFiles, "file")} since the start${latest}`;
}
