import { execFile } from "node:child_process";
import type { Log } from "../diagnostics/log.ts";

const TIMEOUT_MS = 10_000;

/** Whether a service manager wants to hear of us. */
export function hasServiceManager(): boolean {
  return process.env.NOTIFY_SOCKET !== undefined;
}

/**
 * Tells systemd, as in `READY=1` or `STATUS=…`. By a program of its own, for Node has no datagram sockets of the Unix kind:
 * the unit needs `NotifyAccess=all`. What cannot be told is logged and no failure of ours.
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
