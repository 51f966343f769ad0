import { execFile } from "node:child_process";

const TIMEOUT_MS = 3000;

/** Returns whether NetworkManager takes an interface for metered; false where there is no NetworkManager. */
export function isMetered(interfaceName: string): Promise<boolean> {
  const args = ["-g", "GENERAL.METERED", "device", "show", interfaceName];
  return new Promise((resolve) => {
    execFile("nmcli", args, { timeout: TIMEOUT_MS, env: { ...process.env, LC_ALL: "C" } }, (error, stdout) =>
      resolve(!error && stdout.trim().startsWith("yes")),
    );
  });
}
