// Loaded into a program before it begins (`node --import`): its wall clock is wrong by as many milliseconds as a file says at that moment.
// Everything that uses the monotonic clock is unaffected, as when an operator sets the clock of a machine.

import { readFileSync } from "node:fs";

const { FAULTS_CLOCK_SHIFT: path = "" } = process.env;
const Unshifted = Date;

function shiftedMs(): number {
  return Unshifted.now() + Number(readFileSync(path, "utf8"));
}

class ShiftedDate extends Unshifted {
  constructor(...given: [] | [number | string | Date]) {
    super(...((given.length === 0 ? [shiftedMs()] : given) as [number]));
  }

  static override now(): number {
    return shiftedMs();
  }
}

globalThis.Date = ShiftedDate as DateConstructor;
