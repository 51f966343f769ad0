import type { Device } from "@downlink/protocol";
import { formatBytes } from "../parts/bytes.ts";
import { diskUsed } from "./device-facts.ts";

/** From this share on a disk counts as nearly full. */
const NARROW = 0.9;

export function DiskBar({ device }: { device: Pick<Device, "agent"> }) {
  const used = diskUsed(device);
  if (used === undefined) return <span class="muted">—</span>;
  const { freeBytes, totalBytes } = device.agent!.status!.disk!;
  return (
    <span class="disk-bar" title={`${formatBytes(freeBytes)} of ${formatBytes(totalBytes)} are free`}>
      <span class={used > NARROW ? "disk-track narrow-disk" : "disk-track"} aria-hidden="true">
        <span style={{ width: `${used * 100}%` }} />
      </span>
      <span class="nowrap">{formatBytes(freeBytes)} free</span>
    </span>
  );
}
