// The cloud and not the agent decides whose a file is, because only the cloud knows the organization's devices. A file without an owner is
// kept as `unassigned` and has no project, so that only keys for all projects see it. Devices are created for recordings only: a stray
// directory at a site creates none.

import type { DeviceReference, EdgeItem, Unassigned } from "@downlink/protocol";
import type { AgentModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";
import { readServedProjects } from "../standing/served-projects.ts";
import { findKeptPlaces } from "./find-kept-places.ts";
import { findPlace, type Place, type Reason } from "./find-place.ts";

export interface Placed {
  /** The items in the form in which they are stored: a file without an owner is `unassigned`. */
  readonly items: readonly EdgeItem[];
  /** The owners by version id. */
  readonly places: ReadonlyMap<string, Place>;
  readonly unassigned: Unassigned[];
}

interface Batch {
  readonly agent: AgentModel;
  readonly items: readonly EdgeItem[];
  readonly nowNs: bigint;
}

/**
 * On a device every file belongs to the device, whatever the file says. At a site each item names its device: an id must exist, a name may
 * create a device, and both count only in the projects that the site serves. spec: edge agent §1, wire contract §4
 */
export async function placeFiles(tx: Transaction, { agent, items, nowNs }: Batch): Promise<Placed> {
  if (agent.deviceId !== null) {
    const place = await placeOfDevice(tx, agent.deviceId);
    return { items, places: new Map(items.map(({ versionId }) => [versionId, place])), unassigned: [] };
  }
  const served = await readServedProjects(tx, agent);
  const find = rememberEach((mayCreate, reference) => findPlace(tx, { agent, served, reference, mayCreate, nowNs }));
  const places = new Map<string, Place>();
  const nowhere = new Map<string, Reason>();
  for (const item of items) {
    const place = await find(item.state === "indexed", item.device ?? {});
    if ("projectId" in place) places.set(item.versionId, place);
    else if (item.state === "indexed") nowhere.set(item.versionId, place);
  }
  for (const [versionId, place] of await findKeptPlaces(tx, {
    agent,
    items,
    nowhere: new Set(nowhere.keys()),
    served,
  })) {
    places.set(versionId, place);
    nowhere.delete(versionId);
  }
  return {
    items: items.map((item) => toUnassigned(item, nowhere.get(item.versionId))),
    places,
    unassigned: Array.from(nowhere, ([versionId, reason]) => ({ versionId, ...reason })),
  };
}

async function placeOfDevice(tx: Transaction, id: string): Promise<Place> {
  const { projectId, name } = await tx.device.findUniqueOrThrow({ where: { id } });
  return { projectId, device: { id, name } };
}

/** Files of one robot come in hundreds, so each answer is remembered. */
function rememberEach<T>(find: (mayCreate: boolean, reference: DeviceReference) => Promise<T>): typeof find {
  const found = new Map<string, Promise<T>>();
  return (mayCreate, reference) => {
    const key = JSON.stringify([mayCreate, reference.id, reference.name, reference.projectId]);
    const answer = found.get(key) ?? find(mayCreate, reference);
    found.set(key, answer);
    return answer;
  };
}

function toUnassigned(item: EdgeItem, reason: Reason | undefined): EdgeItem {
  if (!reason) return item;
  const { versionId, path, size, modifiedAt, headTailSha256, device } = item;
  return { versionId, path, size, modifiedAt, headTailSha256, device, state: "unassigned", reason };
}
