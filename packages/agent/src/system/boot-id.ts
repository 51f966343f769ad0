import { readFileSync } from "node:fs";

/** Linux makes an id at each start of the machine. Undefined on another system, or in a container that hides it. */
export function readBootId(): string | undefined {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return undefined;
  }
}
