import { problemTexts } from "../diagnostics/problems.ts";
import { fileStates } from "../inventory/file-state.ts";

const text = { type: "string" } as const;
const textOrNull = { type: ["string", "null"] } as const;
const count = { type: "integer", minimum: 0 } as const;
const countOrNull = { type: ["integer", "null"], minimum: 0 } as const;
const number = { type: ["integer", "null"] } as const;

const deletionReason = { enum: ["imported", "retention", "space", "prune"] } as const;

const object = <const P extends Record<string, unknown>>(properties: P) =>
  ({ type: "object", properties, required: Object.keys(properties), additionalProperties: false }) as const;

/**
 * The output of `agent status --json`, as JSON Schema 2020-12. Times are RFC 3339 in UTC, sizes are in bytes; null means "not known".
 * Fields may be added within version 1; anything else is another version. It is JSON Schema and not zod, because readers seldom use
 * TypeScript; the type is derived from it.
 */
export const statusSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Status of a Downlink agent",
  ...object({
    version: { const: 1 },
    health: { enum: ["healthy", "degraded", "not running"] },
    agent: object({ version: text, pid: countOrNull, startedAt: textOrNull }),
    device: object({
      id: textOrNull,
      name: textOrNull,
      projectId: textOrNull,
      projectName: textOrNull,
      orgId: textOrNull,
    }),
    /** The site of an agent at an edge site; the device is not known then. */
    site: object({ id: textOrNull, name: textOrNull }),
    apiUrl: textOrNull,
    stateDir: text,
    connection: object({
      state: { enum: ["connecting", "connected", "offline", "held elsewhere", "refused", "none"] },
      since: textOrNull,
      lastContactAt: textOrNull,
      clockSkewMs: number,
      lastError: textOrNull,
    }),
    storage: object({
      root: textOrNull,
      isPresent: { type: ["boolean", "null"] },
      totalBytes: countOrNull,
      /** The blocks in use, as `df` counts them. */
      usedBytes: countOrNull,
      freeBytes: countOrNull,
      /** When the disk is full if it fills as in the last hour. */
      fullInSeconds: countOrNull,
      lastScanAt: textOrNull,
      lastScanMs: countOrNull,
    }),
    files: { type: "object", propertyNames: { enum: fileStates }, additionalProperties: count },
    transfers: {
      type: "array",
      items: object({
        path: text,
        sizeBytes: count,
        sentBytes: count,
        bytesPerSecond: count,
        secondsLeft: countOrNull,
      }),
    },
    /** The uploads that wait after a failed try, soonest first; at most 100. */
    retries: {
      type: "array",
      items: object({ path: text, failures: count, lastError: text, nextTryAt: text }),
    },
    /** The limits of uploads. `bytesPerSecond` is null where there is no limit; `until` says when another rate holds. */
    throttle: object({
      isPaused: { type: "boolean" },
      text: textOrNull,
      bytesPerSecond: countOrNull,
      until: textOrNull,
      interface: textOrNull,
      isSlowLink: { type: "boolean" },
    }),
    /** A pause by `agent pause`. `until` is null where `agent resume` has to end it; all are null where there is no pause. */
    pause: object({ by: textOrNull, since: textOrNull, until: textOrNull }),
    /** The planned deletions by rule, and the deletions since the start. Before `heldUntil` nothing is deleted for its age. */
    deletions: object({
      planned: {
        type: "array",
        /** `heldUntil` is set for what a new disk limit would delete at once: these wait until then, or until `agent confirm`. */
        items: object({ reason: deletionReason, files: count, bytes: count, heldUntil: textOrNull }),
      },
      nextPath: textOrNull,
      /** Imported files that may not be deleted yet, because no backup of the control plane holds them; `text` is its reason. */
      waiting: object({ files: count, text: textOrNull }),
      heldUntil: textOrNull,
      deletedFiles: count,
      /** The latest deletions first; at most 10, with those before the start. */
      last: {
        type: "array",
        items: object({ path: text, sizeBytes: count, reason: deletionReason, deletedAt: text }),
      },
    }),
    /** The counts since the start of the agent. */
    counters: object({ uploadedBytes: count, uploadedFiles: count, failedTries: count, scans: count }),
    problems: {
      type: "array",
      items: object({
        code: { enum: Object.keys(problemTexts) as (keyof typeof problemTexts)[] },
        title: text,
        cause: text,
        fix: text,
        detail: text,
        since: text,
      }),
    },
  }),
} as const;

type Primitive = { string: string; integer: number; boolean: boolean; null: null };
/** The type of what a schema allows, for the few words of JSON Schema that are used here. */
type Allowed<S> = S extends { const: infer C }
  ? C
  : S extends { enum: readonly (infer E)[] }
    ? E
    : S extends { properties: infer P }
      ? { -readonly [K in keyof P]: Allowed<P[K]> }
      : S extends { type: "object"; additionalProperties: infer A }
        ? Record<string, Allowed<A>>
        : S extends { items: infer I }
          ? Allowed<I>[]
          : S extends { type: readonly (infer T extends keyof Primitive)[] }
            ? Primitive[T]
            : S extends { type: infer T extends keyof Primitive }
              ? Primitive[T]
              : never;

export type StatusDocument = Allowed<typeof statusSchema>;
