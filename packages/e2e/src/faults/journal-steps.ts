// Loaded into an agent before it begins (`node --import`): writes every durable step into a journal, and kills the process at one of them.

import { tracingChannel } from "node:diagnostics_channel";
import { appendFileSync } from "node:fs";

/** A step in the form of `packages/agent/src/durable/durable-steps.ts`. */
interface Step {
  readonly what: "inventory" | "fact" | "file" | "call" | "part" | "piece";
  readonly steps?: readonly { readonly do: string; readonly event?: string }[];
  readonly name?: string;
  readonly path?: string;
  readonly operation?: string;
  readonly uploadId?: string;
  readonly number?: number;
  readonly offset?: number;
  readonly error?: unknown;
}

const { FAULTS_JOURNAL: journal = "/dev/null", FAULTS_CRASH_AT: crashAt } = process.env;
const passed = new Map<string, number>();

const durableWrites = tracingChannel("downlink.agent.durable-writes");
const cloudCalls = tracingChannel("downlink.agent.cloud-calls");
durableWrites.start.subscribe((step) => pass(step as Step, "before"));
durableWrites.end.subscribe((step) => pass(step as Step, "after"));
cloudCalls.start.subscribe((step) => pass(step as Step, "before"));
cloudCalls.asyncStart.subscribe((step) => pass(step as Step, (step as Step).error === undefined ? "after" : "failed"));

function pass(step: Step, when: "before" | "after" | "failed"): void {
  const name = `${when} ${nameOf(step)}`;
  const count = (passed.get(name) ?? 0) + 1;
  passed.set(name, count);
  const point = `${name} #${count}`;
  appendFileSync(journal, `${point}\t${placeOf(step)}\n`);
  if (point === crashAt) process.kill(process.pid, "SIGKILL");
}

/** Names the place of what was sent, to check that nothing is sent twice. */
function placeOf({ what, uploadId, number, offset }: Step): string {
  if (what !== "part" && what !== "piece") return "";
  return ` ${[uploadId, number, offset].filter((each) => each !== undefined).join("/")}`;
}

function nameOf({ what, steps = [], name, path, operation }: Step): string {
  // Whether a hash is noted in the same write depends on timing, and makes no other step.
  const named = steps.filter((each) => each.do !== "noteHash" || steps.length === 1);
  const kinds = new Set(named.map((each) => each.event ?? each.do));
  const detail = [...kinds, name, path?.split("/").at(-1), operation].filter((text) => text !== undefined);
  return [what, ...detail].join(" ");
}
