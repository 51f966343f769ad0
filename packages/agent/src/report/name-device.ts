import { CUT_RECORD_NAME, type DeviceReference, type EdgeItem, SALVAGE_RECORD_NAME } from "@downlink/protocol";
import { findIdentity } from "@downlink/recordings";

/** Names the device of a file, as far as the file or its place says. */
export type DeviceNaming = (item: EdgeItem) => DeviceReference | undefined;

/**
 * On a device every file belongs to the device. At a site the last metadata record named `downlink` names the device, or the first
 * directory below the root where the operator wants that; a file in the root itself is in no such directory. spec: edge agent §1
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

/** The limits of the contract, in UTF-16 units. No device has a longer name. */
const MAX_NAME = 200;
const MAX_ID = 64;

function firstDirectory(path: string): string | undefined {
  const [first, ...rest] = path.split("/");
  return rest.length === 0 ? undefined : first;
}

/** A salvage or a cut belongs to the device of the file from which it was made. */
function originalPath(item: EdgeItem): string {
  const records = item.state === "indexed" ? item.metadata : [];
  return (
    records.findLast(({ name }) => name === SALVAGE_RECORD_NAME || name === CUT_RECORD_NAME)?.metadata.path ?? item.path
  );
}

function referenceIn(item: EdgeItem): DeviceReference | undefined {
  if (item.state !== "indexed") return undefined;
  const { deviceId, deviceName, projectId } = findIdentity(item.metadata);
  if (deviceId === undefined && deviceName === undefined) return undefined;
  const id = deviceId?.slice(0, MAX_ID);
  return { id, name: deviceName?.slice(0, MAX_NAME), projectId: projectId?.slice(0, MAX_ID) };
}
