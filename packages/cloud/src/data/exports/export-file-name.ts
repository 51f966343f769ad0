import { type ExportFormat, exportExtensions, formatTimestamp } from "@downlink/protocol";

interface Named {
  /** The devices of the selected recordings, each once. */
  readonly deviceNames: readonly string[];
  /** The earliest time of a message in the export. */
  readonly startNs: bigint | undefined;
  readonly topics: readonly string[];
  readonly format: ExportFormat;
}

const MAX_PART_CHARACTERS = 60;

/**
 * Makes a name like `rover-2_2026-04-14T03-00-12Z_imu.mcap`: it names device and topic if there is one of each, in characters that every
 * file system accepts.
 */
export function exportFileName({ deviceNames, startNs, topics, format }: Named): string {
  const parts = [
    deviceNames.length === 1 ? deviceNames[0]! : "recordings",
    startNs === undefined ? "" : formatTimestamp(startNs).replace(/\.\d+/, "").replaceAll(":", "-"),
    topics.length === 1 ? topics[0]! : "",
  ];
  const name = parts
    .map(toPart)
    .filter((part) => part !== "")
    .join("_");
  return `${name || "recordings"}${exportExtensions[format]}`;
}

function toPart(text: string): string {
  const plain = text.replace(/[^A-Za-z0-9.-]+/g, "-").replace(/^[.-]+|[.-]+$/g, "");
  return plain.slice(0, MAX_PART_CHARACTERS);
}
