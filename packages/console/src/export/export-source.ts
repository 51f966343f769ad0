import type { ExportSelector } from "./export-text.ts";

/** The recordings that a user exports, as one file or one for each device. */
export interface ExportSource {
  readonly projectId: string;
  readonly files: readonly ExportFile[];
  readonly span: { readonly startNs: bigint; readonly endNs: bigint };
  /** Whether the files are of the whole span without any times, as of a recording. */
  readonly isWhole: boolean;
  /** The path of the recording, of which a bag may be made again. */
  readonly path?: string;
  /** Says what of the data cannot be read. */
  readonly damage?: string | undefined;
}

export interface ExportFile {
  /** The name of the device; of the recording where it is one. */
  readonly name: string;
  readonly by: ExportSelector;
}

interface Slice {
  readonly projectId: string;
  readonly devices: readonly { readonly id: string; readonly name: string }[];
  readonly span: ExportSource["span"];
}

/** Makes the source of all that some devices recorded in a span: a file for each device. */
export function sourceOfDevices({ projectId, devices, span }: Slice): ExportSource {
  const files = devices.map(({ id, name }) => ({ name, by: { deviceId: id } }));
  return { projectId, files, span, isWhole: false };
}
