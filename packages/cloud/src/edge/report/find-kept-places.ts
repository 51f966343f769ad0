import type { EdgeItem } from "@downlink/protocol";
import type { AgentModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";
import { isServed, type ServedProjects } from "../standing/served-projects.ts";
import type { Place } from "./find-place.ts";

interface Reported {
  readonly agent: AgentModel;
  readonly items: readonly EdgeItem[];
  /** The versions that name no existing device. */
  readonly nowhere: ReadonlySet<string>;
  readonly served: ServedProjects;
}

interface Row {
  readonly versionId: string;
  readonly projectId: string;
  readonly deviceId: string;
  readonly deviceName: string;
}

/**
 * Returns the owners that known files keep, by version id, even if the files name others by now: a recording already belongs to a device,
 * and a project keeps all its files of a site which does not serve it any more. A file of such a project does not become a recording any
 * more.
 */
export async function findKeptPlaces(
  tx: Transaction,
  { agent, items, nowhere, served }: Reported,
): Promise<[string, Place][]> {
  const asked = served ? items : items.filter(({ versionId }) => nowhere.has(versionId));
  if (asked.length === 0) return [];
  const rows = await readPlaces(tx, agent, asked);
  return rows
    .filter(({ versionId, projectId }) => nowhere.has(versionId) || !isServed(served, projectId))
    .map(({ versionId, projectId, deviceId, deviceName }) => {
      return [versionId, { projectId, device: { id: deviceId, name: deviceName } }];
    });
}

/** Each version is looked up by itself, as in find-versions.ts. */
function readPlaces(tx: Transaction, { id: agentId }: AgentModel, items: readonly EdgeItem[]): Promise<Row[]> {
  const versionIds = items.map(({ versionId }) => versionId);
  const importable = items.filter(({ state }) => state === "indexed").map(({ versionId }) => versionId);
  return tx.$queryRaw<Row[]>`
    SELECT reported.id AS "versionId", d."projectId", d.id AS "deviceId", d.name AS "deviceName"
    FROM unnest(${versionIds}::text[]) AS reported(id)
    CROSS JOIN LATERAL (
      SELECT "recordingId", "deviceId" FROM "EdgeFile"
      WHERE "agentId" = ${agentId} AND "versionId" = reported.id LIMIT 1
    ) f
    LEFT JOIN "Recording" r ON r.id = f."recordingId"
    JOIN "Device" d ON d.id = coalesce(r."deviceId", f."deviceId")
    WHERE f."recordingId" IS NOT NULL OR reported.id <> ALL(${importable})`;
}
