import { type EdgeItem, edgeLimits, type Unassigned } from "@downlink/protocol";
import { itemOf } from "../indexing/build-item.ts";
import { reportedState } from "../inventory/file-state.ts";
import type { Inventory } from "../inventory/inventory.ts";
import { type InventoryStep, lifeOf } from "../inventory/tracked-file.ts";
import type { DeviceNaming } from "./name-device.ts";

export interface ReportBatch {
  readonly upserts: EdgeItem[];
  /** To be recorded once the cloud has acknowledged the batch. */
  readonly confirmations: InventoryStep[];
  /** How many of the given version ids it covers, those included that have nothing to say any more. */
  readonly covered: number;
}

/** Leaves room for removals, acknowledgements and the frame. */
const MAX_UPSERT_BYTES = edgeLimits.bytesPerReport - 256 * 1024;
const MAX_SCHEMA_BYTES = 3 * 1024 * 1024;
/** A path may be escaped to six times its length; the rest is times, hashes and a reason. */
const FRAME_BYTES = 4096;

export interface ReportLimits {
  readonly maxItems: number;
  readonly nameDevice: DeviceNaming;
  /** Whether the file at a path is to be imported without being asked for. */
  readonly wantsImport: (path: string) => boolean;
}

/** As many of the versions, in their order, as one report holds: `maxItems`, and the limit of bytes. */
export function planUpserts(
  inventory: Inventory,
  versionIds: Iterable<string>,
  { maxItems, nameDevice, wantsImport }: ReportLimits,
): ReportBatch {
  const upserts: EdgeItem[] = [];
  const confirmations: InventoryStep[] = [];
  let covered = 0;
  let bytes = 0;
  for (const versionId of versionIds) {
    if (upserts.length === maxItems) break;
    const file = inventory.version(versionId);
    const state = file && reportedState(lifeOf(file));
    if (file && state) {
      const findings = inventory.findings(versionId);
      const itemBytes = Buffer.byteLength(findings?.item ?? "") + 6 * Buffer.byteLength(file.path) + FRAME_BYTES;
      if (upserts.length > 0 && bytes + itemBytes > MAX_UPSERT_BYTES) break;
      // What belongs to nobody is told as what it is: its device may be there by now.
      const item = itemOf(file, state === "unassigned" ? "indexed" : state, findings);
      if (item) {
        bytes += itemBytes;
        const wanted = item.state === "indexed" && wantsImport(item.path) ? { ...item, wantsImport: true } : item;
        upserts.push({ ...wanted, device: nameDevice(item) });
        confirmations.push({ do: "confirm", versionId, as: state, revision: file.revision });
      }
    }
    covered += 1;
  }
  return { upserts, confirmations, covered };
}

/** What to record of a batch, after the cloud said which of its files belong to nobody. */
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

/** Schemas that the cloud asked for, as many as a report of their own holds; those we do not have are left out. */
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
