/** Enough to make one slow run of the collector count little. */
const TIMES = 20;

/**
 * Returns how many milliseconds of processor time this machine takes to encode some 1 MB of JSON: the measure for how long a turn of the main
 * thread may take, because machines differ by more than any limit in milliseconds allows.
 */
export function megabyteMs(): number {
  const rows = Array.from({ length: 12_000 }, (_, id) => ({
    id,
    name: `row ${id}`,
    at: id * 1.5,
    topics: ["/imu", "/camera"],
  }));
  JSON.stringify(rows);
  const before = process.cpuUsage();
  for (let time = 0; time < TIMES; time += 1) JSON.stringify(rows);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / TIMES;
}
