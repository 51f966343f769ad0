import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { api } from "@downlink/protocol";
import type { ControlPlane } from "../../processes/control-plane.ts";
import { type Program, startProgram } from "../../processes/program.ts";

/** An agent with a device of its own and default settings. */
export interface AgentUnderTest extends AsyncDisposable {
  readonly deviceId: string;
  readonly root: string;
  start(options?: StartOptions): Program;
  /** Returns the output of `agent status --json`; undefined if the agent does not answer. */
  status(): Promise<AgentStatus | undefined>;
  /** Asks until the status is the expected one. */
  until(isWanted: (status: AgentStatus) => boolean): Promise<AgentStatus>;
}

export interface StartOptions {
  /** Settings that replace the default ones. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The command that runs the program in its place, instead of the link's. */
  readonly within?: readonly string[] | undefined;
}

export interface AgentStatus {
  readonly files: Readonly<Record<string, number>>;
  readonly storage: { readonly lastScanMs: number | null; readonly lastScanAt: string | null };
}

const POLL_MS = 1000;

export async function makeAgent(options: {
  readonly cloud: ControlPlane;
  /** The command that runs the program at the far end of a link; undefined: at this end. */
  readonly within?: readonly string[] | undefined;
  /** The path of the agent's program. */
  readonly script: string;
  /** A folder on a file system in memory, so that the disk is not measured. */
  readonly parent: string;
  /** Compiled code is kept between starts, as `npm run agent` does and an installation does not. */
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
