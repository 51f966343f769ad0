import { execFile } from "node:child_process";
import type { Log } from "../diagnostics/log.ts";

const TIMEOUT_MS = 10_000;

/** Returns whether a service manager waits for notifications. */
export function hasServiceManager(): boolean {
  return process.env.NOTIFY_SOCKET !== undefined;
}

/**
 * Notifies systemd, for example with `READY=1` or `STATUS=…`. It runs `systemd-notify`, because Node has no Unix datagram
 * sockets, and so the unit needs `NotifyAccess=all`. A notification that fails is only logged.
 */
export function notifyServiceManager(log: Log, ...assignments: readonly string[]): Promise<void> {
  if (!hasServiceManager()) return Promise.resolve();
  return new Promise((resolve) => {
    execFile("systemd-notify", assignments, { timeout: TIMEOUT_MS }, (error) => {
      if (error) log.warn({ err: error }, "systemd cannot be notified");
      resolve();
    });
  });
}
