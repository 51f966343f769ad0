import assert from "node:assert/strict";
import { test } from "node:test";
import type { EdgeAgent, WaitReason } from "@downlink/protocol";
import { explainWait, type Situation } from "./explain-wait.ts";

type Status = NonNullable<EdgeAgent["status"]>;
const healthy: Status = { files: {}, problems: [], transfers: [] };
const agent: EdgeAgent = { online: true, lastSeenAt: 0n, version: "1", cloned: false, status: healthy };
const withStatus = (status: Partial<Status>): EdgeAgent => ({ ...agent, status: { ...healthy, ...status } });
const problem = (code: string) => ({ problems: [{ code, text: "what", fix: "do", since: 0n }] });
const idle: Situation = { agent, isDeviceEnabled: true, isUploading: false, position: 1 };

/** The reasons in the order in which they are checked; each with a situation that causes it. */
const reasons: [WaitReason, Partial<Situation>][] = [
  ["AgentCloned", { agent: { ...agent, cloned: true } }],
  ["DeviceDisabled", { isDeviceEnabled: false }],
  ["DeviceOffline", { agent: { ...agent, online: false } }],
  ["StorageMissing", { agent: withStatus(problem("StorageMissing")) }],
  ["UploadsHeldBack", { agent: withStatus({ throttle: { reason: "the upload rate is off", until: 5n } }) }],
  ["StorageFull", { agent: withStatus(problem("CloudStorageFull")) }],
  ["UploadFailing", { agent: withStatus(problem("UploadFailing")) }],
  ["BehindOthers", { position: 2 }],
  ["AgentToStart", {}],
];

for (const [code, situation] of reasons)
  test(`${code} has a sentence, and advice if somebody can do something about it`, () => {
    const shown = explainWait({ ...idle, ...situation })!;
    assert.equal(shown.code, code);
    assert.ok(shown.text.length > 3);
    assert.equal(shown.fix === undefined, code === "BehindOthers" || code === "AgentToStart");
    assert.equal(shown.until, code === "UploadsHeldBack" ? 5n : undefined);
  });

test("of two reasons the earlier one is shown", () => {
  for (const [i, [code, earlier]] of reasons.entries())
    for (const [, later] of reasons.slice(i + 1)) {
      const both = { ...idle, ...later, ...earlier };
      if (earlier.agent && later.agent) both.agent = { ...later.agent, ...changed(earlier.agent, later.agent) };
      assert.equal(explainWait(both)!.code, code);
    }
});

/** Makes an agent of both situations. */
function changed(one: EdgeAgent, other: EdgeAgent): Partial<EdgeAgent> {
  const problems = [...(other.status?.problems ?? []), ...(one.status?.problems ?? [])];
  return { ...one, cloned: one.cloned || other.cloned, status: { ...other.status!, ...one.status!, problems } };
}

test("a file that is being sent waits for nothing, whatever else is wrong; but if nothing moves it is not being sent", () => {
  for (const [code, situation] of reasons) {
    const shown = explainWait({ ...idle, ...situation, isUploading: true })?.code;
    const stopsAll = reasons.findIndex(([reason]) => reason === code) <= 4;
    assert.equal(shown, stopsAll ? code : undefined);
  }
});

test("without an agent the device is offline since an unknown time", () => {
  assert.match(explainWait({ ...idle, agent: undefined })!.text, /not been heard of\.$/);
});
