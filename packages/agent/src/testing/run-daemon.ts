import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@downlink/recordings/testing";
import { askControl } from "../control/control-socket.ts";
import { runDaemon } from "../daemon/daemon.ts";
import { createLog, type LogOutput } from "../diagnostics/log.ts";
import { loadSettings, type SettingName, type Settings } from "../settings/settings.ts";
import { askStatus } from "../status/socket.ts";
import type { StatusDocument } from "../status/status-schema.ts";
import type { Clock } from "../system/clock.ts";
import type { FakeCloud } from "./fake-cloud.ts";
import { createRunningClock } from "./test-clock.ts";

/** A device for one test: a root and a state directory, which are removed at the end. */
export interface Device extends Disposable {
  readonly root: string;
  readonly stateDir: string;
}

export function makeDevice(): Device {
  const directory = mkdtempSync(join(tmpdir(), "downlink-agent-"));
  const device = { root: join(directory, "root"), stateDir: join(directory, "state") };
  mkdirSync(device.root);
  return { ...device, [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }) };
}

export function settingsFor(
  device: Device,
  cloud: FakeCloud,
  flags: Partial<Record<SettingName, string>> = {},
): Settings {
  const quick = { settleTimeMs: "50ms", scanIntervalMs: "100ms", incompleteAfterMs: "10min" };
  const own = { storageRoot: device.root, stateDir: device.stateDir, apiUrl: cloud.url, deviceToken: cloud.token };
  return loadSettings({ flags: { ...quick, ...own, ...flags }, environment: {}, configFile: "/dev/null" });
}

/** Returns the same settings as flags of the command line. */
export function flagsFor(device: Device, cloud: Pick<FakeCloud, "url" | "token">): string[] {
  return ["--token", cloud.token, "--url", cloud.url, "--storage-root", device.root, "--state-dir", device.stateDir];
}

export interface RunningDaemon extends AsyncDisposable {
  /** Resolves when the daemon ends; rejects with the error that ended it. */
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
  status(): Promise<StatusDocument>;
  /** Waits until deletions for a new disk limit are shown, and confirms them. */
  confirm(): Promise<StatusDocument>;
  /** Waits for a condition on the status; fails after a long time and says what it waited for. */
  until(what: string, isTrue: (status: StatusDocument) => boolean): Promise<StatusDocument>;
}

/** Drops the log, because tests cause failures on purpose. */
const nowhere: LogOutput = { write: () => true, on: () => undefined };

/** Runs the agent within the test's own process. */
export function startDaemon(settings: Settings, clock: Clock = createRunningClock()): RunningDaemon {
  const controller = new AbortController();
  const log = createLog({ format: "json", level: "error", out: nowhere });
  const ended = runDaemon({ settings, log, clock, signal: controller.signal });
  ended.catch(() => {});
  const stop = async () => {
    controller.abort();
    await ended;
  };
  const status = async () => {
    const answer = await askStatus(settings.stateDir);
    if (!answer) throw new Error("the agent does not answer");
    return answer;
  };
  const until: RunningDaemon["until"] = async (what, isTrue) => await untilStatus(settings.stateDir, what, isTrue);
  return {
    ...{ ended, stop, status, until },
    async confirm() {
      const shown = await until("deletions wait", ({ deletions }) =>
        deletions.planned.some(({ heldUntil }) => heldUntil),
      );
      await askControl(settings.stateDir, { action: "confirm" });
      return shown;
    },
    [Symbol.asyncDispose]: async () => {
      controller.abort();
      await Promise.allSettled([ended]);
    },
  };
}

export async function untilStatus(
  stateDir: string,
  what: string,
  isTrue: (status: StatusDocument) => boolean,
): Promise<StatusDocument> {
  const ask = () => askStatus(stateDir);
  try {
    return (await eventually(ask, (status) => status !== undefined && isTrue(status)))!;
  } catch (cause) {
    throw new Error(`waited in vain until ${what}`, { cause });
  }
}
