import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { makeUnit } from "../service/unit.ts";

/** A group of processes that the kernel keeps below a limit of memory, as systemd does a service. */
export interface MemoryCgroup extends Disposable {
  /** The command that puts the program behind it into the group. */
  readonly within: readonly string[];
  readonly limitBytes: number;
  /** How often a process was killed for memory. */
  kills(): number;
}

/** Returns the memory that the unit allows. */
export function unitMemoryBytes(): number {
  const unit = makeUnit({
    command: ["agent"],
    user: "agent",
    group: "agent",
    stateDir: "/state",
    storageRoot: "/data",
  });
  const [, megabytes] = /^MemoryMax=(\d+)M$/m.exec(unit)!;
  return Number(megabytes) * 1024 * 1024;
}

/** Opens a group of version 1 or 2, whichever the system has. Throws where none can be made, mostly for missing rights. */
export function openMemoryCgroup(limitBytes: number): MemoryCgroup {
  const kind = existsSync(`${V1_ROOT}/memory.limit_in_bytes`) ? v1 : v2;
  const path = `${kind.root()}/downlink-test-${process.pid}-${performance.now().toFixed(0)}`;
  mkdirSync(path);
  try {
    for (const [name, value] of kind.settings(limitBytes)) writeIfThere(`${path}/${name}`, value);
    if (kind.limitOf(path) !== limitBytes) throw new Error(`${path} takes no limit of memory`);
  } catch (error) {
    rmdirSync(path);
    throw error;
  }
  return {
    within: ["sh", "-c", `echo $$ > ${path}/cgroup.procs && exec "$@"`, "sh"],
    limitBytes,
    kills: () => Number(/^oom_kill (\d+)$/m.exec(readFileSync(`${path}/${kind.events}`, "utf8"))?.[1] ?? 0),
    [Symbol.dispose]: () => rmdirSync(path),
  };
}

const V1_ROOT = "/sys/fs/cgroup/memory";

const v1 = {
  root: () => V1_ROOT,
  settings: (limit: number): [string, string][] => [
    ["memory.limit_in_bytes", `${limit}`],
    ["memory.memsw.limit_in_bytes", `${limit}`],
  ],
  limitOf: (path: string) => Number(readFileSync(`${path}/memory.limit_in_bytes`, "utf8")),
  events: "memory.oom_control",
};

const v2 = {
  /** The group is made below our own one, which must pass the memory controller on. */
  root: () => {
    const own = /^0::(.*)$/m.exec(readFileSync("/proc/self/cgroup", "utf8"))?.[1] ?? "/";
    const mount = /^cgroup2 (\S+) /m.exec(readFileSync("/proc/mounts", "utf8"))?.[1];
    if (mount === undefined) throw new Error("no cgroups are mounted");
    const path = `${mount}${own === "/" ? "" : own}`;
    writeFileSync(`${path}/cgroup.subtree_control`, "+memory");
    return path;
  },
  settings: (limit: number): [string, string][] => [
    ["memory.max", `${limit}`],
    ["memory.swap.max", "0"],
  ],
  limitOf: (path: string) => Number(readFileSync(`${path}/memory.max`, "utf8")),
  events: "memory.events",
};

/** Writes only where the file exists, because swap is not counted everywhere. */
function writeIfThere(path: string, value: string): void {
  if (existsSync(path)) writeFileSync(path, value);
}
