import { DeviceName, type DeviceReference } from "@downlink/protocol";
import type { AgentModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";
import { findOrCreateDevice } from "../../fleet/devices/create-device.ts";
import { isServed, type ServedProjects } from "../standing/served-projects.ts";

/** The owner of a file. */
export interface Place {
  readonly projectId: string;
  readonly device: { readonly id: string; readonly name: string };
}

/** Why a file has no owner. */
export interface Reason {
  readonly code: string;
  readonly text: string;
}

interface Search {
  /** The agent of a site. */
  readonly agent: AgentModel;
  readonly served: ServedProjects;
  readonly reference: DeviceReference;
  /** False for a file that is no recording: such a file creates no device. */
  readonly mayCreate: boolean;
  readonly nowNs: bigint;
}

/**
 * Finds the device of a file. An id counts if the site may act for it; a name means a device of the projects that the site serves, and may
 * create one there.
 */
export async function findPlace(tx: Transaction, search: Search): Promise<Place | Reason> {
  const { id, name, projectId } = search.reference;
  const { orgId } = search.agent;
  if (projectId !== undefined) {
    if (!(await tx.project.findFirst({ where: { id: projectId, orgId } })))
      return { code: "ProjectNotFound", text: `Project not found: ${projectId}` };
    if (!isServed(search.served, projectId)) return describeNotOfSite(`project ${projectId}`);
  }
  if (id !== undefined) return findById(tx, search, id);
  if (name !== undefined) return findByName(tx, search, name);
  return { code: "NoDevice", text: "the file names no device" };
}

async function findById(tx: Transaction, { agent, served, reference }: Search, id: string): Promise<Place | Reason> {
  const where = { id, orgId: agent.orgId, projectId: reference.projectId };
  const device = await tx.device.findFirst({ where });
  if (!device) return { code: "DeviceNotFound", text: `Device not found: ${id}` };
  if (!isServed(served, device.projectId)) return describeNotOfSite(`the project of device ${id}`);
  return { projectId: device.projectId, device: { id, name: device.name } };
}

async function findByName(tx: Transaction, search: Search, name: string): Promise<Place | Reason> {
  const where = { name, orgId: search.agent.orgId, projectId: scopeOf(search) };
  const [device, another] = await tx.device.findMany({ where, take: 2 });
  if (another) return { code: "AmbiguousName", text: `several projects have a device named "${name}"` };
  if (device) return { projectId: device.projectId, device: { id: device.id, name } };
  if (!search.mayCreate) return { code: "DeviceNotFound", text: `Device not found: ${name}` };
  if (await hadDevice(tx, search, name)) return describeNotOfSite(`the project of device "${name}"`);
  return createPlace(tx, search, name);
}

/** Returns the project that the file names, or else the projects that the site serves. */
function scopeOf({ reference, served }: Search): string | { in: string[] } | undefined {
  return reference.projectId ?? (served && { in: [...served] });
}

/**
 * Says whether the name meant a device of a project that the site served before. Its files must not go to a device of that name in another
 * project, which they would create.
 */
async function hadDevice(tx: Transaction, { agent, served, reference }: Search, name: string): Promise<boolean> {
  if (!served || reference.projectId !== undefined) return false;
  const device = { name, orgId: agent.orgId, projectId: { notIn: [...served] } };
  return (await tx.recording.findFirst({ where: { edgeSiteId: agent.siteId, device }, select: { id: true } })) !== null;
}

async function createPlace(tx: Transaction, search: Search, name: string): Promise<Place | Reason> {
  const { agent, nowNs } = search;
  if (!DeviceName.safeParse(name).success)
    return {
      code: "InvalidDeviceName",
      text: `letters, digits, and _ . - only, at most 100, make a device name: "${name}"`,
    };
  const projects = await tx.project.findMany({ where: { orgId: agent.orgId, id: scopeOf(search) }, take: 2 });
  const [project, another] = projects;
  if (!project || another)
    return {
      code: "ProjectRequired",
      text: `no device is named "${name}", and the file names no project to make it in`,
    };
  const { id } = await findOrCreateDevice(tx, { orgId: agent.orgId, projectId: project.id, name, nowNs });
  return { projectId: project.id, device: { id, name } };
}

function describeNotOfSite(what: string): Reason {
  return { code: "ProjectNotOfSite", text: `the site is not for ${what}` };
}
