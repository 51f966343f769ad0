import type { Clock } from "../system/clock.ts";
import type { ServerTimeMemory } from "./server-time-memory.ts";

/** The server's time between two of its answers. Nanoseconds since the epoch. */
export interface ServerClock {
  /** Undefined until the server gave its time to this process, or to an earlier one since the machine was started. */
  nowNs(): bigint | undefined;
  note(serverTimeNs: bigint): void;
  /** How often the server's clock jumped by more than an hour compared with the time that passed here. */
  jumps(): number;
}

const JUMP_NS = 3_600_000_000_000n;

export function createServerClock(clock: Pick<Clock, "uptimeMs">, memory: ServerTimeMemory): ServerClock {
  let sample = memory.recall();
  let isKept = false;
  let jumps = 0;
  const nowNs = () => {
    if (!sample) return undefined;
    return sample.serverTimeNs + BigInt(Math.round((clock.uptimeMs() - sample.atMs) * 1e6));
  };
  return {
    nowNs,
    note(serverTimeNs) {
      const offNs = serverTimeNs - (nowNs() ?? serverTimeNs);
      const hasJumped = offNs > JUMP_NS || offNs < -JUMP_NS;
      if (hasJumped) jumps += 1;
      sample = { serverTimeNs, atMs: clock.uptimeMs() };
      if (hasJumped || !isKept) memory.keep(sample);
      isKept = true;
    },
    jumps: () => jumps,
  };
}
