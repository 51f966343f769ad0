import { rename, writeFile } from "node:fs/promises";

/** A wall clock for the programs that are given these. */
export interface ShiftedClock {
  readonly env: Readonly<Record<string, string>>;
  /** For Node. */
  readonly module: string;
  /** From now on the clock is off by so much. */
  set(shiftMs: number): Promise<void>;
}

/** Right at first. `path` is its own. */
export async function createShiftedClock(path: string): Promise<ShiftedClock> {
  const set = async (shiftMs: number) => {
    await writeFile(`${path}.new`, String(shiftMs));
    await rename(`${path}.new`, path);
  };
  await set(0);
  return { env: { FAULTS_CLOCK_SHIFT: path }, module: new URL("./shift-clock.ts", import.meta.url).href, set };
}
