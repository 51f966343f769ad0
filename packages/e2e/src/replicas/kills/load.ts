import { api } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import {
  type Acknowledged,
  DEVICE,
  keepCreatingEvents,
  keepExporting,
  keepListing,
  keepUploading,
  type Surroundings,
  upload,
} from "./clients.ts";
import type { KillBed } from "./kill-bed.ts";
import type { Tally } from "./tally.ts";

interface Seen {
  readonly tally: Tally;
  readonly acknowledged: Acknowledged;
}

/** Does something while agents and clients work. Resolves once everything that they have begun is acknowledged. */
export async function underLoad(bed: KillBed, seen: Seen, work: () => Promise<void>): Promise<void> {
  const stopping = new AbortController();
  const load = startLoad(bed, { ...seen, stopping: stopping.signal });
  try {
    const done = work().then(() => stopping.abort());
    await Promise.race([Promise.all([load, done]), ...bed.robots.map(({ agent }) => agent.fell)]);
  } finally {
    stopping.abort();
  }
}

interface Load extends Omit<Surroundings, "admin"> {
  readonly acknowledged: Acknowledged;
}

/** Ends after the signal, once everything that was begun is acknowledged. */
async function startLoad({ set, robots }: KillBed, { acknowledged, ...rest }: Load): Promise<void> {
  const surroundings = () => ({ ...rest, admin: set.makeClient() });
  await upload(surroundings(), acknowledged, 0);
  const [first] = await eventually(
    () => set.makeClient(20).call(api.recordings.list, { deviceName: DEVICE }),
    ([recording]) => recording?.importStatus === "complete",
  );
  await Promise.all([
    ...robots.map((robot) => robot.keepRecording(rest.stopping)),
    keepListing(surroundings()),
    keepExporting(surroundings(), first!.id),
    keepUploading(surroundings(), acknowledged),
    keepCreatingEvents(surroundings(), acknowledged),
  ]);
}
