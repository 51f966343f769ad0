import { type DeviceReference, type EdgeItem, salvageRecordName } from "@downlink/protocol";
import { findIdentity } from "@downlink/recordings";

/** Whose file it is, as far as the file or its place says. */
export type DeviceNaming = (item: EdgeItem) => DeviceReference | undefined;

/**
 * On a device every file is the device's. At a site the last metadata record named `downlink` tells, or the first directory below
 * the root where the operator says so; what lies in the root itself is in none. spec: edge agent §1
 */
export function createDeviceNaming(site: {
  readonly isSite: boolean;
  readonly takesDeviceFromPath: boolean;
}): DeviceNaming {
  if (!site.isSite) return () => undefined;
  return (item) => {
    const name = site.takesDeviceFromPath ? firstDirectory(originalPath(item)) : undefined;
    return name === undefined ? referenceIn(item) : { name: name.slice(0, MAX_NAME) };
  };
}

/** In UTF-16 units, of the contract. No device has one so long. */
const MAX_NAME = 200;
const MAX_ID = 64;

function firstDirectory(path: string): string | undefined {
  const [first, ...rest] = path.split("/");
  return rest.length === 0 ? undefined : first;
}

/** A salvage is of the device whose file it was made of. */
function originalPath(item: EdgeItem): string {
  const records = item.state === "indexed" ? item.metadata : [];
  return records.findLast(({ name }) => name === salvageRecordName)?.metadata.path ?? item.path;
}

function referenceIn(item: EdgeItem): DeviceReference | undefined {
  if (item.state !== "indexed") return undefined;
  const { deviceId, deviceName, projectId } = findIdentity(item.metadata);
  if (deviceId === undefined && deviceName === undefined) return undefined;
  const id = deviceId?.slice(0, MAX_ID);
  return { id, name: deviceName?.slice(0, MAX_NAME), projectId: projectId?.slice(0, MAX_ID) };
}
