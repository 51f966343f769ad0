import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { api } from "@downlink/protocol";
import type { ControlPlane } from "../../processes/control-plane.ts";
import { type Program, startProgram } from "../../processes/program.ts";

/** An agent with a device of its own, with its settings as they are by default. */
export interface AgentUnderTest extends AsyncDisposable {
  readonly deviceId: string;
  readonly root: string;
  start(options?: StartOptions): Program;
  /** What `agent status --json` says; undefined where it does not answer. */
  status(): Promise<AgentStatus | undefined>;
  /** Asks until the status is as wanted. */
  until(isWanted: (status: AgentStatus) => boolean): Promise<AgentStatus>;
}

export interface StartOptions {
  /** Instead of those that all have. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The command that puts it where it is to run, instead of the link's. */
  readonly within?: readonly string[] | undefined;
}

export interface AgentStatus {
  readonly files: Readonly<Record<string, number>>;
  readonly storage: { readonly lastScanMs: number | null; readonly lastScanAt: string | null };
}

const POLL_MS = 1000;

export async function makeAgent(options: {
  readonly cloud: ControlPlane;
  /** The command that puts it at the far end of a link; nothing: it is at this one. */
  readonly within?: readonly string[] | undefined;
  /** Of the agent's program. */
  readonly script: string;
  /** On a file system in memory, so that the disk is not what is measured. */
  readonly parent: string;
  /** Compiled code is kept between starts: as `npm run agent` does, an installation does not. */
  readonly keepsCompiled: boolean;
}): Promise<AgentUnderTest> {
  const { cloud, script } = options;
  const folder = await mkdtemp(join(options.parent, "downlink-agent-"));
  const device = await cloud.admin.call(api.devices.create, { name: folder.split("-").at(-1)! });
  const { token } = await cloud.admin.call(api.deviceTokens.create, { deviceId: device.id });
  const root = join(folder, "root");
  const env = {
    DOWNLINK_API_URL: cloud.url,
    DOWNLINK_DEVICE_TOKEN: token!,
    DOWNLINK_STORAGE_ROOT: root,
    DOWNLINK_STATE_DIR: join(folder, "state"),
    DOWNLINK_LOG_LEVEL: "warn",
    MALLOC_ARENA_MAX: undefined,
    MALLOC_MMAP_THRESHOLD_: undefined,
    MALLOC_TRIM_THRESHOLD_: undefined,
    ...(options.keepsCompiled ? {} : { NODE_COMPILE_CACHE: undefined }),
  };
  const status = async () => {
    await using asked = startProgram({ script, args: ["status", "--json"], env });
    await asked.ended;
    const answer = JSON.parse(asked.output()) as Partial<AgentStatus>;
    return answer.storage ? (answer as AgentStatus) : undefined;
  };
  return {
    deviceId: device.id,
    root,
    start: ({ settings, within = options.within } = {}) =>
      startProgram({ script, args: ["run"], env: { ...env, ...settings }, within }),
    status,
    until: async (isWanted) => {
      for (;;) {
        const answer = await status();
        if (answer && isWanted(answer)) return answer;
        await delay(POLL_MS);
      }
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
