import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { access, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { writeDurableFile } from "../durable/durable-file.ts";

export const MARKER_NAME = ".downlink-root";
const MARKER_PATTERN = /^downlink-root ([\w-]{16,})\s*$/;

/** Returns the id in the root's marker; undefined when there is none, or the root itself is not there or not readable. */
export async function readMarker(root: string): Promise<string | undefined> {
  try {
    return MARKER_PATTERN.exec(await readFile(join(root, MARKER_NAME), "utf8"))?.[1];
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

/** Returns why a marker cannot be read that may be there; undefined where there is none, or where it can be read. */
export async function whyUnreadable(root: string): Promise<NodeJS.ErrnoException | undefined> {
  try {
    await access(join(root, MARKER_NAME), constants.R_OK);
    return undefined;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    return ["EACCES", "EPERM", "EIO"].includes(code) ? (error as NodeJS.ErrnoException) : undefined;
  }
}

export type MarkerLook =
  | { readonly is: "marked"; readonly id: string }
  /** The root holds no marker, or is not there, or its disk does not answer any more. */
  | { readonly is: "missing"; readonly id?: undefined }
  /** There may be a marker: it may not be read, or has a form that this agent does not know. */
  | { readonly is: "unknown"; readonly id?: undefined };

/** Like {@link readMarker}, but distinguishes a root without a marker from one whose marker cannot be read. */
export async function lookForMarker(root: string): Promise<MarkerLook> {
  try {
    const id = MARKER_PATTERN.exec(await readFile(join(root, MARKER_NAME), "utf8"))?.[1];
    return id === undefined ? { is: "unknown" } : { is: "marked", id };
  } catch (error) {
    if (!isAbsence(error)) throw error;
    const { code = "" } = error as NodeJS.ErrnoException;
    return { is: ["EACCES", "EPERM", "EISDIR", "ELOOP"].includes(code) ? "unknown" : "missing" };
  }
}

export function formatMarker(id: string): string {
  return `downlink-root ${id}\n`;
}

/** Returns the marker's id; makes a marker where there is none. */
export async function ensureMarker(root: string): Promise<string> {
  const known = await readMarker(root);
  if (known !== undefined) return known;
  const id = randomBytes(16).toString("base64url");
  writeDurableFile(join(root, MARKER_NAME), formatMarker(id));
  return id;
}

export interface MountedRoot {
  readonly markerId: string;
  /** `st_dev` of the root, which may differ after each mount. */
  readonly device: bigint;
}

/** Returns the root where it is the enrolled one; undefined means that the storage is missing. */
export async function findMountedRoot(root: string, markerId: string): Promise<MountedRoot | undefined> {
  if ((await readMarker(root)) !== markerId) return undefined;
  try {
    return { markerId, device: (await stat(root, { bigint: true })).dev };
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

/** True where nothing is there or mounted, a card was pulled out, or we may not read. */
function isAbsence(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code ?? "";
  return ["ENOENT", "ENOTDIR", "EACCES", "EPERM", "EIO", "ENODEV", "ENXIO", "ESTALE", "EISDIR", "ELOOP"].includes(code);
}
