import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { deprecate } from "../shapes/deprecate.ts";
import { page, sorting } from "../shapes/list.ts";
import { QueryBoolean, QueryTexts } from "../shapes/query.ts";
import type { RecordingFormat } from "../shapes/recording-formats.ts";
import { byDevice, inProject } from "../shapes/selectors.ts";
import { ByteCount } from "../shapes/summaries.ts";
import { Id, StorableText } from "../shapes/text.ts";
import { TimeBound, Timestamp } from "../shapes/time.ts";
import { forced } from "./recordings.ts";

/** How many imports one request may delete. spec: Limits */
export const MAX_DELETED_IMPORTS = 50;

/** The names of formats that this deprecated face has. */
export const fileTypes = { bag1: "bag1", mcap: "mcap0" } as const satisfies Record<RecordingFormat, string>;
const FileType = z.enum(Object.values(fileTypes));

/** The deprecated face of an imported recording. */
export const Import = z
  .object({
    id: z.string(),
    importId: z.string().meta({ deprecated: true }),
    orgId: z.string(),
    deviceId: z.string().optional(),
    deviceName: z.string().optional(),
    filename: z.string(),
    importTime: Timestamp,
    start: Timestamp.meta({ description: "Log time of the first message" }),
    end: Timestamp.meta({ description: "Log time of the last message" }),
    inputType: FileType,
    outputType: FileType,
    inputSize: ByteCount,
    totalOutputSize: ByteCount,
    date: z.string().meta({ description: "`YYYYMMDD` of the first message, UTC" }),
    deleted: z.boolean(),
  })
  .meta({ id: "Import" });
export type Import = z.infer<typeof Import>;

export const imports = {
  list: operation({
    method: "get",
    path: "/v1/data/imports",
    access: apiKey("data.imports.list", "projects"),
    summary: "List imports (deprecated: list recordings)",
    deprecatedSince: "2026-11-21",
    query: z.object({
      ...byDevice,
      filename: StorableText.optional().meta({ description: "Exact" }),
      start: TimeBound.optional().meta({ description: "Imported at or after" }),
      end: TimeBound.optional().meta({ description: "Imported at or before" }),
      dataStart: TimeBound.optional().meta({ description: "With data at or after" }),
      dataEnd: TimeBound.optional().meta({ description: "With data at or before" }),
      includeDeleted: QueryBoolean.default(false),
      ...inProject,
      ...sorting("importId", "deviceId", "importTime", "dataStart", "dataEnd"),
      ...page,
    }),
    response: z.array(Import),
  }),
  deleteMany: operation({
    method: "delete",
    path: "/v1/data/imports",
    audits: "import",
    auditsItself: true,
    access: apiKey("data.imports.delete", "projects"),
    isExpensive: true,
    summary: "Delete the data of up to 50 imports of one site (deprecated: delete recordings)",
    deprecatedSince: "2026-11-21",
    description:
      "The ids come as `?id=a&id=b`, as the array `id` of a JSON body, or both. Imports of different sites in one request: 400, and nothing is deleted.",
    query: z.object({ id: QueryTexts.optional(), ...forced }),
    body: z.object({ id: z.array(StorableText).optional() }),
    response: z.object({
      deletionResults: z.array(z.object({ importId: z.string(), result: z.enum(["success", "notFound"]) })),
    }),
  }),
  delete: operation({
    method: "delete",
    path: "/v1/data/imports/{importId}",
    audits: "import",
    access: apiKey("data.imports.delete", "projects"),
    summary: "Delete all data of an import permanently (deprecated: delete the recording)",
    deprecatedSince: "2026-11-21",
    params: z.object({ importId: Id }),
    query: z.object({ deviceId: deprecate(StorableText.optional(), "2026-11-21"), ...forced }),
    response: z.object({ id: z.string() }),
  }),
};
