import { type EdgeItem, edgeLimits, type Unassigned } from "@downlink/protocol";
import { itemOf } from "../indexing/build-item.ts";
import { reportedState } from "../inventory/file-state.ts";
import type { Inventory } from "../inventory/inventory.ts";
import { type InventoryStep, lifeOf } from "../inventory/tracked-file.ts";
import type { DeviceNaming } from "./name-device.ts";

export interface ReportBatch {
  readonly upserts: EdgeItem[];
  /** Steps to record once the cloud has acknowledged the batch. */
  readonly confirmations: InventoryStep[];
  /** How many of the given version ids it covers, with those of which nothing is to be reported. */
  readonly covered: number;
}

/** Leaves room for removals, acknowledgements and the frame. */
const MAX_UPSERT_BYTES = edgeLimits.bytesPerReport - 256 * 1024;
const MAX_SCHEMA_BYTES = 3 * 1024 * 1024;
/** JSON may escape a path to six times its length. */
const MOST_ESCAPED = 6;
/** The bytes of an item besides its path and its findings: times, hashes and a reason. */
const FRAME_BYTES = 4096;

export interface ReportLimits {
  readonly maxItems: number;
  readonly nameDevice: DeviceNaming;
  /** Whether the file at a path is imported without a request. */
  readonly wantsImport: (path: string) => boolean;
}

/** Packs as many of the versions, in their order, as one report holds: `maxItems`, and the limit of bytes. */
export function planUpserts(inventory: Inventory, versionIds: Iterable<string>, limits: ReportLimits): ReportBatch {
  const upserts: EdgeItem[] = [];
  const confirmations: InventoryStep[] = [];
  let covered = 0;
  let bytes = 0;
  for (const versionId of versionIds) {
    if (upserts.length === limits.maxItems) break;
    const entry = entryOf(inventory, versionId, limits);
    if (entry) {
      bytes += entry.bytes;
      if (upserts.length > 0 && bytes > MAX_UPSERT_BYTES) break;
      upserts.push(entry.item);
      confirmations.push(entry.confirmation);
    }
    covered += 1;
  }
  return { upserts, confirmations, covered };
}

interface ReportEntry {
  readonly item: EdgeItem;
  /** The most that the item takes in the report. */
  readonly bytes: number;
  readonly confirmation: InventoryStep;
}

/** Returns the entry of a version; undefined where it is not reported, because it is gone or was not examined yet. */
function entryOf(inventory: Inventory, versionId: string, limits: ReportLimits): ReportEntry | undefined {
  const file = inventory.version(versionId);
  const state = file && reportedState(lifeOf(file));
  if (!file || !state) return undefined;
  const findings = inventory.findings(versionId);
  // A file without a device is reported as indexed, because its device may have been created meanwhile.
  const item = itemOf(file, state === "unassigned" ? "indexed" : state, findings);
  if (!item) return undefined;
  const isWanted = item.state === "indexed" && limits.wantsImport(item.path);
  return {
    item: { ...item, ...(isWanted ? { wantsImport: true } : {}), device: limits.nameDevice(item) },
    bytes: Buffer.byteLength(findings?.item ?? "") + MOST_ESCAPED * Buffer.byteLength(file.path) + FRAME_BYTES,
    confirmation: { do: "confirm", versionId, as: state, revision: file.revision },
  };
}

/** Returns the steps to record after a batch, when the cloud has said which of its files belong to no device. */
export function settleBatch({ confirmations }: ReportBatch, unassigned: readonly Unassigned[] = []): InventoryStep[] {
  const reasons = new Map(unassigned.map(({ versionId, code, text }) => [versionId, { code, text }]));
  return confirmations.map((step) => {
    if (step.do !== "confirm" || (step.as !== "unassigned" && !reasons.has(step.versionId))) return step;
    const { versionId, revision } = step;
    return { do: "place", versionId, revision, reason: reasons.get(versionId) };
  });
}

export interface SchemaUpload {
  readonly sha256: string;
  readonly data: string;
}

/** Takes as many of the schemas that the cloud asked for as one report holds; those that are not known here are left out. */
export function planSchemas(
  inventory: Pick<Inventory, "schema">,
  unknown: Iterable<string>,
): { schemas: SchemaUpload[]; covered: string[] } {
  const schemas: SchemaUpload[] = [];
  const covered: string[] = [];
  let bytes = 0;
  for (const sha256 of unknown) {
    const data = inventory.schema(sha256);
    const encodedBytes = data ? Math.ceil(data.byteLength / 3) * 4 + 128 : 0;
    if (bytes > 0 && bytes + encodedBytes > MAX_SCHEMA_BYTES) break;
    bytes += encodedBytes;
    covered.push(sha256);
    if (data) schemas.push({ sha256, data: Buffer.from(data).toString("base64") });
  }
  return { schemas, covered };
}
