import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

export interface ProcessFacts {
  readonly commandLine: string;
  /** Together with the pid this names one process for ever, because a pid alone is used again. It has no spaces. */
  readonly startedAt: string;
}

/**
 * Returns what the machine knows about a process; undefined if no process has this pid, or only a dead one that its parent has not waited
 * for.
 */
export function inspectProcess(pid: number): ProcessFacts | undefined {
  return process.platform === "linux" ? inspectByProc(pid) : inspectByPs(pid);
}

function inspectByProc(pid: number): ProcessFacts | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
      .replace(/^.*\) /s, "")
      .split(" ");
    const [state, startTicks] = [stat[0], stat[19]];
    if (state === "Z" || state === "X" || startTicks === undefined) return undefined;
    return { commandLine: readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " "), startedAt: startTicks };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ESRCH") return undefined;
    throw error;
  }
}

function inspectByPs(pid: number): ProcessFacts | undefined {
  try {
    const line = execFileSync("ps", ["-ww", "-o", "stat=,lstart=,command=", "-p", String(pid)], {
      encoding: "utf8",
      env: { LC_ALL: "C" },
    });
    const [, state, startedAt, commandLine] = /^(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s+(.*)$/s.exec(line.trim()) ?? [];
    if (state === undefined || startedAt === undefined || commandLine === undefined || state.startsWith("Z"))
      return undefined;
    return { commandLine, startedAt: startedAt.replace(/\s+/g, "_") };
  } catch (error) {
    if ((error as { status?: number }).status === 1) return undefined; // ps found no such process
    throw error;
  }
}
