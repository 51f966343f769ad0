import { parentPort, threadId } from "node:worker_threads";
import type { FromThread, ToThread } from "../thread-messages.ts";

/*
 * An indexing thread that does what the file's name says. No recording is known to cause such faults, but if one ever does it must harm no
 * other file.
 */
const port = parentPort!;
/** The hash says which thread made it. */
const result = {
  contentSha256: String(threadId),
  verdict: { refusal: { code: "EmptyRecording", text: "nothing was read" } },
};
let hoard: object | undefined;
let size = 0;

/** The list holds small objects, because one large object at V8's limit ends the process. */
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
  // A third of the heap is kept, so that later files find no room in a used thread.
  keep() {
    grow(200_000);
    done();
  },
  exit: () => process.exit(3),
  throwLater: () => setImmediate(() => Promise.reject(new Error("nobody expected this"))),
  fail: () => send({ kind: "failed", error: new TypeError("a bug") }),
  bloat: () => send({ kind: "done", result, heldBytes: Number.MAX_SAFE_INTEGER }),
  askForever: () => send({ kind: "read", id: 1, offset: 0, length: 1 }),
  giveForEver: () => send({ kind: "piece", id: 1, bytes: new Uint8Array(3) }),
  holdAndExit: () => send({ kind: "hold", id: 1, sizeBytes: Number.MAX_SAFE_INTEGER }),
  succeed: done,
};

port.on("message", (message: ToThread) => {
  if (message.kind === "bytes") acts.askForever!();
  else if (message.kind === "taken") acts.giveForEver!();
  else if (message.kind === "held") acts.exit!();
  else acts[message.task.input.fileName]!();
});

function done(): void {
  send({ kind: "done", result, heldBytes: 0 });
}

function send(message: FromThread): void {
  port.postMessage(message);
}
