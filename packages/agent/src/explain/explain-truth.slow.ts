import assert from "node:assert/strict";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import type { WantedImport } from "@downlink/protocol";
import { explainFile } from "../commands/explain.ts";
import type { FileState } from "../inventory/file-state.ts";
import { databasePath, openDatabaseToRead } from "../state/database.ts";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { writeRecording } from "../testing/recordings.ts";
import { type Device, makeDevice, settingsFor, startDaemon } from "../testing/run-daemon.ts";

const boom = { code: "KeyTaken", text: "recording rec_9 has the key already" };
const unreadable = { code: "FileUnreadable", text: "EIO" };
const duplicate = {
  code: "DuplicateContent",
  text: "the same content was imported already as recording rec_9 (day/first.mcap)",
};

type Stage = WantedImport["stage"];
type Reason = WantedImport["reason"];
/** One event in the control plane. */
type Happening = { readonly stage: Stage; readonly reason?: Reason } | "takenBack";

interface Case {
  readonly name: string;
  readonly happens: readonly Happening[];
  readonly state: FileState;
  readonly why: RegExp;
  /** The state and the reason where the agent lost its state and knows only the answer to its listing. */
  readonly relisted?: readonly [FileState, RegExp];
}

const NOBODY_ASKED = /nobody has asked for its import/;
const cases: readonly Case[] = [
  { name: "nobody has asked", happens: [], state: "reported", why: NOBODY_ASKED },
  { name: "it is being processed", happens: [{ stage: "processing" }], state: "stored", why: /which processes it/ },
  {
    name: "it is imported",
    happens: [{ stage: "imported" }],
    state: "imported",
    why: /^It is in the control plane\.$/,
  },
  {
    name: "it was imported and its data was deleted",
    happens: [{ stage: "imported" }, "takenBack"],
    state: "reported",
    why: /its data was deleted in the control plane/,
    relisted: ["reported", NOBODY_ASKED],
  },
  {
    name: "its import failed",
    happens: [{ stage: "failed", reason: boom }],
    state: "failed",
    why: /was asked for and failed: Recording rec_9 has the key already\. \(KeyTaken\)$/,
  },
  {
    name: "its import failed, and for another reason after a retry",
    happens: [
      { stage: "failed", reason: boom },
      { stage: "failed", reason: unreadable },
    ],
    state: "failed",
    why: /failed: EIO\. \(FileUnreadable\)$/,
  },
  {
    name: "its failure was taken back",
    happens: [{ stage: "failed", reason: boom }, "takenBack"],
    state: "reported",
    why: /import failed, and the control plane has withdrawn that failure/,
    relisted: ["reported", NOBODY_ASKED],
  },
  {
    name: "it is a copy",
    happens: [{ stage: "failed", reason: duplicate }],
    state: "duplicate",
    why: /in the control plane already.*recording rec_9 \(day\/first\.mcap\)\.$/,
  },
  {
    name: "it was a copy of what was deleted",
    happens: [{ stage: "failed", reason: duplicate }, "takenBack"],
    state: "reported",
    why: /copy of a recording that was in the control plane/,
    relisted: ["reported", NOBODY_ASKED],
  },
];

interface Scene {
  readonly device: Device;
  readonly cloud: FakeCloud;
  readonly requestId: string;
}

/** Requests the import of a reported file; nothing else has happened yet. */
async function withDelivered(work: (scene: Scene) => Promise<void>): Promise<void> {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await writeRecording(device, "a.mcap");
  {
    await using agent = startDaemon(settingsFor(device, cloud));
    await agent.until("it is reported", ({ files }) => files.reported === 1);
  }
  cloud.leaseMs = 0;
  await work({ device, cloud, requestId: cloud.requestImport("a.mcap") });
}

/** Lets all events happen one after the other; `settle` is awaited after each of them. */
async function happen({ cloud, requestId }: Scene, happens: readonly Happening[], settle: () => Promise<void>) {
  const request = cloud.requests.get(requestId)!;
  if (happens.length === 0) cloud.cancel(requestId);
  let last = request;
  for (const what of happens) {
    if (what === "takenBack") cloud.takeBack(requestId, last);
    else {
      last = { ...request, ...what };
      cloud.requests.set(requestId, last);
      cloud.changed();
    }
    await settle();
  }
}

async function assertExplained({ device, cloud }: Scene, state: FileState, why: RegExp) {
  await using agent = startDaemon(settingsFor(device, cloud));
  await agent.until(`it is ${state}`, (status) => status.files[state] === 1 && status.connection.state === "connected");
  const explained = await explainFile(settingsFor(device, cloud), "a.mcap");
  assert.deepEqual([explained.state, why.test(explained.why)], [state, true], explained.why);
}

describe("explain tells the truth", { concurrency: 4 }, () => {
  for (const one of cases) {
    testEachStep(one);
    testAbsence(one);
    if (one.state !== "stored") testLostState(one);
  }
  testUpgrade();
  testWhatTheControlPlaneSaysLater();
});

function testEachStep({ name, happens, state, why }: Case): void {
  test(`when ${name}: to an agent that learns of each step, and after its restart`, async () => {
    await withDelivered(async (scene) => {
      const { device, cloud } = scene;
      cloud.gate = ({ name: call }) => (call === "put" ? new Promise(() => {}) : undefined);
      {
        await using agent = startDaemon(settingsFor(device, cloud));
        await agent.until("it is under way", ({ files }) => files.uploading === 1);
        await happen(scene, happens, async () => {
          const ends = [...cloud.requests.values()].filter(({ stage }) => stage === "imported" || stage === "failed");
          await cloud.until("ends are acknowledged", () =>
            ends.every(({ requestId }) => !cloud.requests.has(requestId)),
          );
        });
      }
      await assertExplained(scene, state, why);
      await assertExplained(scene, state, why);
    });
  });
}

function testAbsence({ name, happens, state, why }: Case): void {
  test(`when ${name}: to an agent that was away meanwhile, and whose acknowledgement is lost`, async () => {
    await withDelivered(async (scene) => {
      await happen(scene, happens, () => Promise.resolve());
      const before = new Map(scene.cloud.requests);
      await assertExplained(scene, state, why);
      for (const [id, request] of before) scene.cloud.requests.set(id, request);
      await assertExplained(scene, state, why);
    });
  });
}

function testLostState({ name, happens, state, why, relisted }: Case): void {
  test(`when ${name}: to an agent that lost its state`, async () => {
    await withDelivered(async (scene) => {
      const { device, cloud } = scene;
      const [last] = happens.toReversed();
      const end = last === "takenBack" ? undefined : last;
      cloud.requests.clear();
      cloud.isImported = () => end?.stage === "imported";
      cloud.failureOf = () => (end?.stage === "failed" ? end.reason : undefined);
      for (const file of readdirSync(device.stateDir).filter((entry) => entry.startsWith("agent.db")))
        rmSync(join(device.stateDir, file));
      await assertExplained(scene, ...(relisted ?? [state, why]));
    });
  });
}

function testUpgrade(): void {
  test("an agent that was upgraded asks once for facts that an earlier version did not learn", async () => {
    await withDelivered(async (scene) => {
      const { device, cloud } = scene;
      await happen(scene, [{ stage: "failed", reason: boom }], () => Promise.resolve());
      await assertExplained(scene, "failed", /KeyTaken/);
      cloud.requests.clear();
      const old = new DatabaseSync(databasePath(device.stateDir));
      old.exec("DROP TABLE outcomes; DROP TABLE wishes; DROP TABLE away; PRAGMA user_version = 3");
      old.close();
      cloud.failureOf = () => boom;
      const countReports = () => cloud.calls.filter(({ name }) => name === "report").length;
      const before = countReports();
      {
        await using agent = startDaemon(settingsFor(device, cloud));
        await agent.until("it has learnt the reason", () => {
          using database = openDatabaseToRead({ stateDir: device.stateDir, stateGroup: "downlink" });
          return database?.prepare("SELECT 1 FROM outcomes").get() !== undefined;
        });
        assert.ok(countReports() > before);
      }
      await assertExplained(scene, "failed", /KeyTaken/);
      const listed = countReports();
      await assertExplained(scene, "failed", /KeyTaken/);
      assert.equal(countReports(), listed, "only once");
    });
  });
}

function testWhatTheControlPlaneSaysLater(): void {
  test("while the control plane cannot be reached, the explanation says that its state is the last known one", async () => {
    await withDelivered(async (scene) => {
      const { device, cloud } = scene;
      await happen(scene, [{ stage: "imported" }], () => Promise.resolve());
      await assertExplained(scene, "imported", /^It is in the control plane\.$/);
      const explained = await explainFile(settingsFor(device, cloud), "a.mcap");
      assert.match(explained.why, /^It is in the control plane\. That is what the control plane said last/);
    });
  });

  test("an agent whose state says more than the control plane's listing corrects it; an older control plane's silence means nothing", async () => {
    for (const [failureOf, state] of [
      [undefined, "failed"],
      [() => undefined, "reported"],
    ] as const) {
      await withDelivered(async (scene) => {
        const { cloud } = scene;
        await happen(scene, [{ stage: "failed", reason: boom }], () => Promise.resolve());
        await assertExplained(scene, "failed", /KeyTaken/);
        cloud.requests.clear();
        cloud.failureOf = failureOf;
        cloud.files.clear(); // The cloud knows no files, so they are listed.
        await assertExplained(scene, state, state === "failed" ? /KeyTaken/ : /withdrawn/);
      });
    }
  });
}
