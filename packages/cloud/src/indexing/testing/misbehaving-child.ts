import { parentPort, threadId } from "node:worker_threads";
import type { FromThread, ToThread } from "../thread-messages.ts";

/*
 * An indexing thread that does what the file's name says: what no recording is known to bring about, and must harm no other
 * file if one ever does.
 */
const port = parentPort!;
/** The hash tells which thread it is of. */
const result = {
  contentSha256: String(threadId),
  verdict: { refusal: { code: "EmptyRecording", text: "nothing was read" } },
};
let hoard: object | undefined;
let size = 0;

/** A list of small things, because one large thing at V8's limit ends the process. */
function grow(count: number): void {
  for (const end = size + count; size < end; size += 1) hoard = { hoard, text: `text ${size}` };
}

const acts: Record<string, () => void> = {
  spin() {
    for (;;);
  },
  hoard() {
    for (;;) grow(1000);
  },
  // A third of the heap: later files find no room in a thread that had some before.
  keep() {
    grow(200_000);
    done();
  },
  exit: () => process.exit(3),
  throwLater: () => setImmediate(() => Promise.reject(new Error("nobody expected this"))),
  fail: () => tell({ kind: "failed", error: new TypeError("a bug") }),
  bloat: () => tell({ kind: "done", result, heldBytes: Number.MAX_SAFE_INTEGER }),
  askForever: () => tell({ kind: "read", id: 1, offset: 0, length: 1 }),
  giveForEver: () => tell({ kind: "piece", id: 1, bytes: new Uint8Array(3) }),
  holdAndExit: () => tell({ kind: "hold", id: 1, sizeBytes: Number.MAX_SAFE_INTEGER }),
  succeed: done,
};

port.on("message", (message: ToThread) => {
  if (message.kind === "bytes") acts.askForever!();
  else if (message.kind === "taken") acts.giveForEver!();
  else if (message.kind === "held") acts.exit!();
  else acts[message.task.input.fileName]!();
});

function done(): void {
  tell({ kind: "done", result, heldBytes: 0 });
}

function tell(message: FromThread): void {
  port.postMessage(message);
}
