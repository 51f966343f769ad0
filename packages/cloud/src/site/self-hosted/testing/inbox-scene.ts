import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { api, Input, Output } from "@downlink/protocol";
import { pino } from "pino";
import { createLinkSigner } from "../../../core/signed-link.ts";
import { type FileStore, openFileStore } from "../../../store/blobs/file-store.ts";
import { createStoppedClock } from "../../../testing/test-clock.ts";
import { Inbox } from "../inbox.ts";
import type { InboxPlace } from "../inbox-place.ts";
import { listReceived } from "../received-files.ts";

type Files = Input<typeof api.site.inbox>["files"];
type State = Output<typeof api.site.inbox>["files"][number]["state"];

export const silent = pino({ level: "silent" });

/** A store of a site; the test says what became of each file of its inbox. */
export async function openInboxScene(stack: AsyncDisposableStack) {
  const folder = await mkdtemp(join(tmpdir(), "downlink-inbox-"));
  stack.defer(() => rm(folder, { recursive: true }));
  const signer = createLinkSigner(["x".repeat(32)]);
  const directory = join(folder, "objects");
  const store = await openFileStore({ directory, signer, publicUrl: () => "", clock: createStoppedClock(0n) });
  const states = new Map<string, State>();
  const answer = ({ requestId, filename }: Files[number]) => {
    const state = states.get(filename) ?? "awaiting";
    return { requestId, state, request: "signed", ...(state === "error" && { reason: "NoEnd: it has no end" }) };
  };
  const session = { call: async (_operation: unknown, { files }: { files: Files }) => ({ files: files.map(answer) }) };
  const deps = {
    ...{ session: session as never, onReceived: () => {}, log: silent },
    ...{ stopping: new AbortController().signal, memory: { facts: { orgId: "org_1" } } as never },
  };
  return {
    folder,
    store,
    states,
    startOver: (place: InboxPlace, blobs = store) => new Inbox({ ...deps, place, blobs }),
  };
}

/** Two looks make a file still. */
export async function lookTwice(inbox: Inbox): Promise<void> {
  await inbox.look();
  await inbox.look();
}

/** Reads all files that the site has received. */
export async function textsOf(store: FileStore): Promise<string[]> {
  const texts: string[] = [];
  for await (const { key, sizeBytes } of listReceived(store)) {
    await using reader = await store.open(key);
    texts.push(Buffer.from(await reader.read(0, sizeBytes)).toString());
  }
  return texts.sort();
}

class KilledError extends Error {}

type Change = (...args: never[]) => Promise<unknown>;

/** Lets so many changes through, of whatever the functions are; at the next one the process is dead. */
export function dyingAt(step: number): <F extends Change>(change: F) => F {
  let left = step;
  return <F extends Change>(change: F) =>
    (async (...args: never[]) => {
      if (left-- <= 0) throw new KilledError();
      return await change(...args);
    }) as F;
}

/** A store that dies so. */
export function dyingStore(store: FileStore, dying: ReturnType<typeof dyingAt>): FileStore {
  const { put, putNote, removeNote } = store;
  const changes = { put: dying(put), putNote: dying(putNote), removeNote: dying(removeNote) };
  return { ...store, ...changes, delete: dying(store.delete) };
}
