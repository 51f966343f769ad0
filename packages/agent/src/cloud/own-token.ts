import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeDurableFile } from "../durable/durable-file.ts";

/** A token that the agent made for itself, and the enrolment that makes it the token of a device. */
export interface OwnToken {
  readonly enrolmentId: string;
  readonly token: string;
  readonly deviceName: string;
  /** SHA-256 of the token with which the control plane last said that the device is there; absent until it did. */
  readonly enrolledWith?: string;
}

export function readOwnToken(stateDir: string): OwnToken | undefined {
  try {
    return JSON.parse(readFileSync(pathOf(stateDir), "utf8")) as OwnToken;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** The token must be kept before it is sent: an agent that loses it after the exchange has lost its device. */
export function keepOwnToken(stateDir: string, own: OwnToken): void {
  writeDurableFile(pathOf(stateDir), `${JSON.stringify(own, null, 2)}\n`, 0o600);
}

export function makeOwnToken(deviceName: string): OwnToken {
  const token = `dl_dt_${randomBytes(30).toString("hex")}`;
  return { enrolmentId: randomBytes(16).toString("hex"), token, deviceName };
}

function pathOf(stateDir: string): string {
  return join(stateDir, "device-token.json");
}
