import { readdir, readFile, writeFile } from "node:fs/promises";

const TICKS_PER_SECOND = 100;

/** The figures that Linux has of a process. */
export interface ProcessFigures {
  readonly rssMB: number;
  /** The highest value since the start, or since {@link resetPeak}. */
  readonly peakRssMB: number;
  readonly cpuSeconds: number;
  /** The part of `cpuSeconds` that the kernel spent for the process. */
  readonly systemCpuSeconds: number;
  readonly inotifyWatches: number;
}

export async function figuresOf(pid: number): Promise<ProcessFigures> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const megabytesOf = (name: string) =>
    (Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)![1]) * 1024) / 1e6;
  // The name of the program stands in parentheses and may hold spaces.
  const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ").at(-1)!.split(" ");
  return {
    rssMB: megabytesOf("VmRSS"),
    peakRssMB: megabytesOf("VmHWM"),
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
    systemCpuSeconds: Number(fields[12]) / TICKS_PER_SECOND,
    inotifyWatches: await countWatches(pid),
  };
}

/** Returns all that it read and wrote by system calls, including the page cache and sockets. */
export async function ioOf(pid: number): Promise<{ readonly readMB: number; readonly writtenMB: number }> {
  const io = await readFile(`/proc/${pid}/io`, "utf8");
  const megabytesOf = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, "m").exec(io)![1]) / 1e6;
  return { readMB: megabytesOf("rchar"), writtenMB: megabytesOf("wchar") };
}

export async function resetPeak(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, "5");
}

async function countWatches(pid: number): Promise<number> {
  const names = await readdir(`/proc/${pid}/fdinfo`);
  const infos = await Promise.all(names.map((name) => readFile(`/proc/${pid}/fdinfo/${name}`, "utf8").catch(() => "")));
  return infos.join("\n").match(/^inotify wd:/gm)?.length ?? 0;
}
