import { PassThrough } from "node:stream";
import type { Client } from "@downlink/client";
import { api, type Recording } from "@downlink/protocol";
import { MultiBar, Presets } from "cli-progress";
import { say } from "./say.ts";
import type { WaitFor } from "./wait-for.ts";

/** Requests every import and follows them to their ends: it shows how far each recording has come, and the stored bytes. */
export async function importEverything(
  client: Client,
  waitFor: WaitFor,
  recordings: readonly Recording[],
): Promise<void> {
  for (const { id } of recordings) await client.call(api.recordings.requestImport, { keyOrId: id });
  const bars = new MultiBar(
    {
      ...{ format: "  {name} {bar} {percentage} %  {progress}", hideCursor: true, noTTYOutput: true },
      ...{ notTTYSchedule: 60_000, stream: barStream() },
    },
    Presets.shades_grey,
  );
  const totalBytes = recordings.reduce((sum, { size }) => sum + size, 0);
  const files = bars.create(recordings.length, 0, { name: "recordings", progress: "" });
  const bytes = bars.create(totalBytes, 0, { name: "bytes     ", progress: "" });
  const ask = () => client.call(api.recordings.list, { sortBy: "path" });
  const doneOf = (now: readonly Recording[]) =>
    now.filter(({ importStatus }) => importStatus === "complete" || importStatus === "failed");
  const ended = await waitFor(ask, {
    isWanted(now) {
      const done = doneOf(now);
      files.update(done.length, { progress: `${done.length} of ${now.length}` });
      const doneBytes = done.reduce((sum, { size }) => sum + size, 0);
      bytes.update(doneBytes, { progress: `${(doneBytes / 1e6).toFixed(1)} of ${(totalBytes / 1e6).toFixed(1)} MB` });
      return done.length === now.length;
    },
    describe: (now) => `${doneOf(now).length} of ${now.length} recordings are imported`,
  });
  bars.stop();
  const imported = ended.filter(({ importStatus }) => importStatus === "complete");
  say(`${imported.length} of ${ended.length} imported; the cloud checked the SHA-256 of each against the robot's`);
}

/** A terminal that understands no control sequences is written to like a file. */
function barStream(): NodeJS.WritableStream {
  if (process.env.TERM !== "dumb") return process.stderr;
  const lines = new PassThrough();
  lines.pipe(process.stderr);
  return lines;
}
