import { readdir, readFile } from "node:fs/promises";
import type { Client } from "pg";

const TICKS_PER_SECOND = 100;

/** Returns the CPU time of the server and all its processes, including those that have ended. It must be on this machine. */
export async function postgresCpuSeconds(database: Client): Promise<number> {
  const { rows } = await database.query<{ pid: string }>(
    "SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1) AS pid",
  );
  const postmaster = Number(rows[0]!.pid);
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const ticks = await Promise.all(ids.map((id) => ticksOf(id, postmaster)));
  return ticks.reduce((sum, one) => sum + one, 0) / TICKS_PER_SECOND;
}

/**
 * Returns the ticks of the process, if it is the server or a child of it; the server's own include those of its children that have ended.
 */
async function ticksOf(id: number, postmaster: number): Promise<number> {
  const stat = await readFile(`/proc/${id}/stat`, "utf8").catch(() => undefined);
  if (stat === undefined) return 0; // it has ended meanwhile
  const fields = stat.split(") ").at(-1)!.split(" ").map(Number);
  const [own, ofEnded] = [fields[11]! + fields[12]!, fields[13]! + fields[14]!];
  if (id === postmaster) return own + ofEnded;
  return fields[1] === postmaster ? own : 0;
}
