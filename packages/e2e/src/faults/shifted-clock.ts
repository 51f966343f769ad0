import { rename, writeFile } from "node:fs/promises";

/** A wall clock for the programs that get these settings. */
export interface ShiftedClock {
  readonly env: Readonly<Record<string, string>>;
  /** The module that Node must load. */
  readonly module: string;
  /** Sets the clock wrong by this much, from now on. */
  set(shiftMs: number): Promise<void>;
}

/** The clock is right at first. The file at `path` belongs to it. */
export async function createShiftedClock(path: string): Promise<ShiftedClock> {
  const set = async (shiftMs: number) => {
    await writeFile(`${path}.new`, String(shiftMs));
    await rename(`${path}.new`, path);
  };
  await set(0);
  return { env: { FAULTS_CLOCK_SHIFT: path }, module: new URL("./shift-clock.ts", import.meta.url).href, set };
}
