import { createHash } from "node:crypto";
import { getHeapStatistics } from "node:v8";
import { parentPort, workerData } from "node:worker_threads";
import { inspectRecording, type RandomAccessSource } from "@downlink/recordings";
import { judgeFile } from "./judge-file.ts";
import type { FromThread, Task, TaskName, Tasks, ThreadData, ToThread } from "./thread-messages.ts";

/*
 * What runs inside an indexing thread. It has neither store nor database nor environment: bytes come from the process that
 * started it, range by range, and so does the count of its progress.
 */
const port = parentPort!;
const { maxHeapBytes } = workerData as ThreadData;
const PIECE_BYTES = 1024 * 1024;
const waiting = new Map<number, (bytes: Uint8Array<ArrayBuffer>) => void>();
let lastId = 0;

type Runners = {
  [N in TaskName]: (source: RandomAccessSource, input: Tasks[N]["input"]) => Promise<Tasks[N]["result"]>;
};

const runners: Runners = {
  hash: hashSource,
  inspect: async (source, { fileName }) => judgeFile(await inspectRecording(source, { fileName, verifyChunks: true })),
};

port.on("message", (message: ToThread) => {
  if (message.kind === "run") return void run(message.task, message.sizeBytes);
  waiting.get(message.id)!(message.bytes);
  waiting.delete(message.id);
});

async function run<N extends TaskName>({ name, input }: Task<N>, sizeBytes: number): Promise<void> {
  try {
    const result = await (runners[name] as Runners[N])({ sizeBytes, read }, input);
    const { total_heap_size: heapBytes, external_memory: externalBytes } = getHeapStatistics();
    tell({ kind: "done", result, heldBytes: heapBytes + externalBytes });
  } catch (error) {
    tell(error instanceof HeapFull ? { kind: "outOfMemory" } : { kind: "failed", error });
  }
}

/** Looks at the heap itself, because V8 at its own limit may end the whole process. */
async function read(offset: number, length: number): Promise<Uint8Array> {
  if (getHeapStatistics().used_heap_size > maxHeapBytes) throw new HeapFull();
  lastId += 1;
  const { promise, resolve } = Promise.withResolvers<Uint8Array<ArrayBuffer>>();
  waiting.set(lastId, resolve);
  tell({ kind: "read", id: lastId, offset, length });
  return promise;
}

function tell(message: FromThread): void {
  port.postMessage(message);
}

/** The next piece is on its way while one is hashed. */
async function hashSource({ sizeBytes, read }: RandomAccessSource): Promise<string> {
  const hash = createHash("sha256");
  const readAt = (offset: number) =>
    offset < sizeBytes ? read(offset, Math.min(PIECE_BYTES, sizeBytes - offset)) : undefined;
  let ahead = readAt(0);
  for (let offset = 0; ahead; offset += PIECE_BYTES) {
    const piece = await ahead;
    ahead = readAt(offset + PIECE_BYTES);
    hash.update(piece);
  }
  return hash.digest("hex");
}

class HeapFull extends Error {}
