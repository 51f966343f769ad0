import assert from "node:assert/strict";
import { api } from "@downlink/protocol";
import { makeMcap } from "@downlink/recordings/testing";
import { request } from "undici";
import type { ControlPlane } from "./control-plane.ts";

const MINUTE_NS = 60_000_000_000n;
let files = 0n;

/** Uploads another recording by a link, which the control plane imports later. No two of a process have the same content. */
export async function uploadAnother(cloud: ControlPlane): Promise<void> {
  files += 1n;
  const bytes = await makeMcap({ startNs: 1_760_000_000_000_000_000n + files * MINUTE_NS, durationSeconds: 2 });
  const { link } = await cloud.admin.call(api.uploads.create, { filename: `${files}.mcap`, deviceName: "rover" });
  const headers = { "content-type": "application/octet-stream" };
  const { statusCode, body } = await request(link, { method: "PUT", headers, body: bytes });
  const answer = await body.text();
  assert.equal(statusCode, 200, answer);
}
