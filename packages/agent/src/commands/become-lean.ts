import { setFlagsFromString } from "node:v8";

/** For V8: half the memory (10,000 files: 100 MB less) for a few per cent of speed. */
const LEAN_FLAG = "--optimize-for-size";
/** glibc gives each thread a heap of its own, and returns nothing of it: 10 MB in a process that waits. */
const ONE_HEAP = "MALLOC_ARENA_MAX";

/** Begins this program anew within the same process, with what can only be set at the start; returns where it is set. */
export function becomeLean(): void {
  const { env, execve, execPath, execArgv, argv } = process;
  const isFlagged = execArgv.includes(LEAN_FLAG);
  if (isFlagged && env[ONE_HEAP] !== undefined) return;
  if (execve === undefined) {
    setFlagsFromString(LEAN_FLAG);
    return;
  }
  const flags = isFlagged ? execArgv : [LEAN_FLAG, ...execArgv];
  execve(execPath, [execPath, ...flags, ...argv.slice(1)], { [ONE_HEAP]: "1", ...env });
}
