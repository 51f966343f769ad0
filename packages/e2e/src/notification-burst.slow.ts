import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { runCeph, whyNoCeph } from "@downlink/cloud/testing/run-ceph";
import { api } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import type { ControlPlane } from "./processes/control-plane.ts";
import { startExternalPostgres } from "./processes/external-postgres.ts";
import { openPlant, type Plant } from "./processes/plant.ts";
import { whyNotInCi } from "./replicas/why-not-in-ci.ts";

const skip = whyNoCeph() ?? whyNotInCi();
const ceph = skip === undefined ? await runCeph() : undefined;
after(() => ceph?.[Symbol.asyncDispose]());

const NOTIFICATIONS = 4000;
const RECORDINGS = 50;
/** The sender has so many events in a message, and so many messages under way. */
const EVENTS = 20;
const AT_ONCE = 8;
/** The control plane is killed once so many messages were accepted. */
const KILLED_AT = [20, 80, 140];
/** Each of the objects is asked for by a job of its own. */
const LONGEST_MS = 500_000;
const START_NS = 1_760_000_000_000_000_000n;
const NS_PER_MINUTE = 60_000_000_000n;

test("of 4,000 notifications none is lost or doubled by a control plane that is killed while they come", {
  skip,
}, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "downlink-burst-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await using postgres = await startExternalPostgres(folder);
  const plant = await openPlant(t, ceph!, { DATABASE_URL: postgres.url, DOWNLINK_LIST_BUCKETS: "0" });
  let cloud = await plant.start();
  t.after(() => cloud[Symbol.asyncDispose]());
  const names = await fill(plant);
  const token = await makeToken(plant, cloud);
  const messages = toMessages(plant.bucket, names);
  const sending = {
    messages,
    accepted: 0,
    brokenOff: 0,
    place: () => `${cloud.url}/endpoints/inbox-notifications?token=${token}`,
  };
  const sent = sendAll(sending);
  for (const least of KILLED_AT) {
    await eventually(
      async () => sending.accepted,
      (accepted) => accepted >= least,
    );
    await cloud.program.end("SIGKILL");
    cloud = await plant.start();
  }
  await sent;
  assert.ok(sending.brokenOff > 0, "it was killed while messages were under way");

  const looked = `SELECT count(*)::int AS n FROM "BucketObject" WHERE etag IS NOT NULL AND NOT "isDue"`;
  await eventually(
    async () => (await postgres.query<{ n: number }>(looked))[0]!.n,
    (n) => n === NOTIFICATIONS,
    LONGEST_MS,
  );
  const recordings = await eventually(
    () => cloud.admin.call(api.recordings.list, { limit: 1000 }),
    (all) => all.every(({ importStatus }) => importStatus === "complete"),
  );
  assert.deepEqual(recordings.map(({ path }) => path).sort(), names.filter((name) => name.startsWith("runs/")).sort());
});

/** Puts one object under each of the names, of which some are recordings. */
async function fill(plant: Plant): Promise<string[]> {
  const names = Array.from({ length: NOTIFICATIONS }, (_, at) =>
    at % (NOTIFICATIONS / RECORDINGS) === 0 ? `runs/${at} +ü.mcap` : `notes/${at}`,
  );
  await ceph!.fill(plant.bucket, names, Buffer.from("x"));
  for (const [at, name] of names.filter((one) => one.startsWith("runs/")).entries())
    await plant.put(name, await makeMcap({ startNs: START_NS + BigInt(at) * NS_PER_MINUTE, durationSeconds: 1 }));
  return names;
}

/** Makes a site of the bucket, and returns the token for its notifications. */
async function makeToken(plant: Plant, { admin }: ControlPlane): Promise<string> {
  const { output } = await plant.site("create-byob", "plant", ...plant.place);
  const siteId = /site_\w+/.exec(output)?.[0] ?? assert.fail(output);
  const rules = [{ pattern: "runs/*", action: { type: "import" as const } }];
  await admin.call(api.ingestPathPolicies.save, { id: siteId, schemaVersion: 1, rules });
  return (await admin.call(api.inboxTokens.create, { siteId })).token!;
}

function toMessages(bucket: string, names: readonly string[]): string[] {
  const events = names.map((name) => ({
    ...{ eventName: "ObjectCreated:Put", eventSource: "aws:s3", eventTime: "2026-01-01T00:00:00.000Z" },
    s3: { bucket: { name: bucket }, object: { key: encodeURIComponent(name).replaceAll("%20", "+") } },
  }));
  return Array.from({ length: names.length / EVENTS }, (_, at) =>
    JSON.stringify({ Records: events.slice(at * EVENTS, (at + 1) * EVENTS) }),
  );
}

interface Sending {
  readonly messages: readonly string[];
  /** The address of this moment. */
  readonly place: () => string;
  accepted: number;
  /** How often no answer came. */
  brokenOff: number;
}

/** Sends each message until it is accepted, as a notification service does, and never again. */
async function sendAll(sending: Sending): Promise<void> {
  const waiting = sending.messages.values();
  const send = async () => {
    for (const body of waiting) {
      await eventually(
        () => isAccepted(sending, body),
        (accepted) => accepted,
      );
      sending.accepted += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, send));
}

async function isAccepted(sending: Sending, body: string): Promise<boolean> {
  try {
    return (await fetch(sending.place(), { method: "POST", body })).ok;
  } catch {
    sending.brokenOff += 1;
    return false;
  }
}
