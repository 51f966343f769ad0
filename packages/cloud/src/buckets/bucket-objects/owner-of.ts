import { isStorable } from "@downlink/protocol";
import type { ImportRequestModel } from "../../db/generated/models.ts";
import type { OwnerHints } from "./note-object.ts";

/** The facts about an object's owner that are known before its file is read. */
interface Known {
  /** The device that the path policy names. */
  readonly deviceName: string | undefined;
  readonly hints: OwnerHints;
  /** The metadata that the writer gave the object; the names are in lower case. */
  readonly metadata: Readonly<Record<string, string>>;
}

type Owner = Pick<ImportRequestModel, "deviceId" | "deviceName" | "claimedProjectId" | "key" | "sessionKey">;

/**
 * The path policy overrides a notification, and that overrides the object's metadata: the first of them that names a device names it alone.
 * The file itself may state a fact that none of them states.
 */
export function ownerOf({ deviceName, hints, metadata }: Known): Owner {
  const readMetadata = (name: string) => {
    const text = metadata[name.toLowerCase()];
    return text !== undefined && text !== "" && isStorable(text) ? text : undefined;
  };
  const sources = [
    { deviceName },
    hints,
    { deviceId: readMetadata("deviceId"), deviceName: readMetadata("deviceName") },
  ];
  const device: OwnerHints = sources.find((source: OwnerHints) => source.deviceId ?? source.deviceName) ?? {};
  return {
    deviceId: device.deviceId ?? null,
    deviceName: device.deviceId === undefined ? (device.deviceName ?? null) : null,
    claimedProjectId: hints.projectId ?? readMetadata("projectId") ?? null,
    key: readMetadata("key") ?? null,
    sessionKey: readMetadata("sessionKey") ?? null,
  };
}
