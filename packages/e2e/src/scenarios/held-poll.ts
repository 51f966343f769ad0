import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { api } from "@downlink/protocol";
import type { ControlPlane } from "../processes/control-plane.ts";

interface HeldPoll {
  readonly deviceId: string;
  readonly answer: Promise<Response>;
}

/** Starts a device's agent that waits this long for work, of which there is none. */
export async function holdPoll(
  { url, admin }: Pick<ControlPlane, "url" | "admin">,
  waitSeconds: number,
): Promise<HeldPoll> {
  const instanceId = randomBytes(16).toString("hex");
  const { id: deviceId } = await admin.call(api.devices.create, { name: `waiting-${instanceId.slice(0, 8)}` });
  const { token } = await admin.call(api.deviceTokens.create, { deviceId });
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const hello = {
    agentVersion: "0.0.0-test",
    instanceId,
    machineId: "machine",
    host: { hostname: "robot", platform: "linux", arch: "x64" },
    inventory: { count: 0, digest: createHash("sha256").digest("hex") },
    clock: new Date().toISOString(),
  };
  const greeted = await fetch(`${url}/v1/edge/hello`, { method: "POST", headers, body: JSON.stringify(hello) });
  assert.equal(greeted.status, 200);
  const { lease } = (await greeted.json()) as { lease: number };
  const withLease = { ...headers, "downlink-lease": String(lease) };
  const { etag } = (await (await fetch(`${url}/v1/edge/work`, { headers: withLease })).json()) as { etag: string };
  const answer = fetch(`${url}/v1/edge/work?wait=${waitSeconds}&etag=${etag}`, { headers: withLease });
  return { deviceId, answer };
}
