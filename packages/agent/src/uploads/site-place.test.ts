import assert from "node:assert/strict";
import { test } from "node:test";
import type { TransportRequest } from "@downlink/client";
import { FIRST_TIME_NS } from "@downlink/protocol";
import { createSitePlace } from "./site-place.ts";

const uploadId = "upl_00000000000000000000000000";
const signal = new AbortController().signal;

function siteWith(capability: string) {
  return { id: "site_1", name: "plant", address: "http://plant.example", capability, expiresAt: FIRST_TIME_NS };
}

/** A site that accepts one capability. */
function makePlace(accepted: string, renewed: { uploadId: string; site?: ReturnType<typeof siteWith> }) {
  const calls: string[] = [];
  const transport = async ({ url, headers }: TransportRequest) => {
    const bearer = headers.authorization!;
    calls.push(`${new URL(url).pathname.split("/").at(-1)} ${bearer}`);
    const isAccepted = bearer === `Bearer ${accepted}`;
    const body = isAccepted ? { size: 1 } : { error: "the link has expired", code: "LinkExpired" };
    const json = new Map([["content-type", "application/json"]]);
    return { status: isAccepted ? 200 : 403, headers: json, body: JSON.stringify(body) };
  };
  const sites = { blame: () => {}, noteAnswer: () => {} };
  const renew = async () => {
    calls.push("renew");
    return renewed;
  };
  const place = createSitePlace({ transport, sites, uploadId, site: siteWith("first"), renew });
  return { place, calls };
}

const completion = { parts: [], sha256: "0".repeat(64) };

test("a capability that has ended is renewed once, and the call is made again with the new one", async () => {
  const { place, calls } = makePlace("second", { uploadId, site: siteWith("second") });
  await place.complete(completion, signal);
  await place.complete(completion, signal);
  assert.deepEqual(calls, ["complete Bearer first", "renew", "complete Bearer second", "complete Bearer second"]);
});

test("a renewal that is refused, too, fails, and one for another upload ends this one", async () => {
  const refused = makePlace("none", { uploadId, site: siteWith("second") });
  await assert.rejects(refused.place.complete(completion, signal), { code: "LinkExpired" });
  assert.equal(refused.calls.length, 3);
  const replaced = makePlace("none", { uploadId: "upl_11111111111111111111111111", site: siteWith("second") });
  await assert.rejects(replaced.place.complete(completion, signal), { code: "UploadClosed" });
  const elsewhere = makePlace("none", { uploadId });
  await assert.rejects(elsewhere.place.complete(completion, signal), { code: "UploadClosed" });
});
