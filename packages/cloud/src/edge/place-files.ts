import { DeviceName, type DeviceReference, type EdgeItem, type Unassigned } from "@downlink/protocol";
import type { AgentModel } from "../db/generated/models.ts";
import type { Transaction } from "../db/transaction.ts";
import { findOrCreateDevice } from "../devices/create-device.ts";
import { findVersions } from "./find-versions.ts";

/** Whose file it is. */
export interface Place {
  readonly projectId: string;
  readonly device: { readonly id: string; readonly name: string };
}

export interface Placed {
  /** As they are to be kept: what belongs nowhere is `unassigned`. */
  readonly items: readonly EdgeItem[];
  /** By version id. */
  readonly places: ReadonlyMap<string, Place>;
  readonly unassigned: Unassigned[];
}

interface Batch {
  readonly agent: AgentModel;
  readonly items: readonly EdgeItem[];
  readonly nowNs: bigint;
}

/**
 * On a device every file is the device's, whatever the file says. At a site each item names its device: an id must exist, a
 * name may make a device, and both count only inside the site's organization. spec: edge agent §1, wire contract §4
 */
export async function placeFiles(tx: Transaction, { agent, items, nowNs }: Batch): Promise<Placed> {
  if (agent.deviceId !== null) {
    const place = await placeOfDevice(tx, agent.deviceId);
    return { items, places: new Map(items.map(({ versionId }) => [versionId, place])), unassigned: [] };
  }
  const find = rememberEach((mayCreate, reference) =>
    findPlace(tx, { orgId: agent.orgId, reference, mayCreate, nowNs }),
  );
  const places = new Map<string, Place>();
  const nowhere = new Map<string, Reason>();
  for (const item of items) {
    const place = await find(item.state === "indexed", item.device ?? {});
    if ("projectId" in place) places.set(item.versionId, place);
    else if (item.state === "indexed") nowhere.set(item.versionId, place);
  }
  for (const [versionId, place] of await placesOfRecordings(tx, agent, [...nowhere.keys()])) {
    places.set(versionId, place);
    nowhere.delete(versionId);
  }
  return {
    items: items.map((item) => toUnassigned(item, nowhere.get(item.versionId))),
    places,
    unassigned: Array.from(nowhere, ([versionId, reason]) => ({ versionId, ...reason })),
  };
}

/** What is a recording already belongs to somebody, whatever its place says by now. */
async function placesOfRecordings(
  tx: Transaction,
  { id: agentId }: AgentModel,
  versionIds: readonly string[],
): Promise<[string, Place][]> {
  if (versionIds.length === 0) return [];
  const files = await findVersions(tx, { agentId, versionIds });
  const recordings = await tx.recording.findMany({
    where: { id: { in: files.flatMap(({ recordingId }) => recordingId ?? []) } },
    select: { id: true, projectId: true, device: { select: { id: true, name: true } } },
  });
  const byId = new Map(recordings.map((recording) => [recording.id, recording]));
  return files.flatMap(({ versionId, recordingId }) => {
    const { projectId, device } = byId.get(recordingId ?? "") ?? {};
    return projectId !== undefined && device ? [[versionId, { projectId, device }]] : [];
  });
}

async function placeOfDevice(tx: Transaction, id: string): Promise<Place> {
  const { projectId, name } = await tx.device.findUniqueOrThrow({ where: { id } });
  return { projectId, device: { id, name } };
}

/** Files of one robot come in hundreds. */
function rememberEach<T>(find: (mayCreate: boolean, reference: DeviceReference) => Promise<T>): typeof find {
  const found = new Map<string, Promise<T>>();
  return (mayCreate, reference) => {
    const key = JSON.stringify([mayCreate, reference.id, reference.name, reference.projectId]);
    const answer = found.get(key) ?? find(mayCreate, reference);
    found.set(key, answer);
    return answer;
  };
}

interface Reason {
  readonly code: string;
  readonly text: string;
}

interface Search {
  readonly orgId: string;
  readonly reference: DeviceReference;
  /** A file that is no recording makes no device. */
  readonly mayCreate: boolean;
  readonly nowNs: bigint;
}

async function findPlace(tx: Transaction, search: Search): Promise<Place | Reason> {
  const { orgId, reference } = search;
  const { id, name, projectId } = reference;
  if (projectId !== undefined && !(await tx.project.findFirst({ where: { id: projectId, orgId } })))
    return { code: "ProjectNotFound", text: `Project not found: ${projectId}` };
  if (id === undefined && name === undefined) return { code: "NoDevice", text: "the file names no device" };
  const where = id === undefined ? { name: name! } : { id };
  const [device, another] = await tx.device.findMany({ where: { ...where, orgId, projectId }, take: 2 });
  if (another) return { code: "AmbiguousName", text: `several projects have a device named "${name}"` };
  if (device) return { projectId: device.projectId, device: { id: device.id, name: device.name } };
  if (id !== undefined) return { code: "DeviceNotFound", text: `Device not found: ${id}` };
  if (!search.mayCreate) return { code: "DeviceNotFound", text: `Device not found: ${name}` };
  return createPlace(tx, search, name!);
}

async function createPlace(
  tx: Transaction,
  { orgId, reference, nowNs }: Search,
  name: string,
): Promise<Place | Reason> {
  if (!DeviceName.safeParse(name).success)
    return {
      code: "InvalidDeviceName",
      text: `letters, digits, and _ . - only, at most 100, make a device name: "${name}"`,
    };
  const projects = await tx.project.findMany({ where: { orgId, id: reference.projectId }, take: 2 });
  const [project, another] = projects;
  if (!project || another)
    return {
      code: "ProjectRequired",
      text: `no device is named "${name}", and the file names no project to make it in`,
    };
  const { id } = await findOrCreateDevice(tx, { orgId, projectId: project.id, name, nowNs });
  return { projectId: project.id, device: { id, name } };
}

function toUnassigned(item: EdgeItem, reason: Reason | undefined): EdgeItem {
  if (!reason) return item;
  const { versionId, path, size, modifiedAt, headTailSha256, device } = item;
  return { versionId, path, size, modifiedAt, headTailSha256, device, state: "unassigned", reason };
}
