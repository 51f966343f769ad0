import { z } from "zod";

/**
 * The formats that recordings have, as agents and sites report them and the database keeps them. The set is closed, so that a control plane
 * is upgraded before the agents that know one more.
 */
export const RecordingFormat = z.enum(["mcap", "bag1"]);
export type RecordingFormat = z.infer<typeof RecordingFormat>;

/** The formats that exports write, each with the ending of a file's name. */
export const exportExtensions = { mcap: ".mcap", bag1: ".bag" } as const satisfies Partial<
  Record<RecordingFormat, string>
>;
export type ExportFormat = keyof typeof exportExtensions;
export const exportFormats: readonly ExportFormat[] = Object.keys(exportExtensions) as ExportFormat[];
