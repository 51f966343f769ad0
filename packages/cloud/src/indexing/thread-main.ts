import { getHeapStatistics } from "node:v8";
import { parentPort, workerData } from "node:worker_threads";
import { indexRecording, type RandomAccessSource } from "@downlink/recordings";
import { judgeFile } from "./judge-file.ts";
import type { FromThread, IndexedFile, Task, TaskName, Tasks, ThreadData, ToThread } from "./thread-messages.ts";

/*
 * What runs inside an indexing thread. It has neither store nor database nor environment: bytes come from the process that
 * started it, range by range, the index goes back to it, and so does the count of its progress.
 */
const port = parentPort!;
const { maxHeapBytes } = workerData as ThreadData;
const reading = new Map<number, (bytes: Uint8Array<ArrayBuffer>) => void>();
const writing = new Map<number, () => void>();
let lastId = 0;

type Runners = {
  [N in TaskName]: (source: RandomAccessSource, input: Tasks[N]["input"]) => Promise<Tasks[N]["result"]>;
};

const runners: Runners = { index: indexFile };

port.on("message", (message: ToThread) => {
  if (message.kind === "run") return void run(message.task, message.sizeBytes);
  if (message.kind === "bytes") reading.get(message.id)!(message.bytes);
  else writing.get(message.id)!();
  reading.delete(message.id);
  writing.delete(message.id);
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

async function indexFile(source: RandomAccessSource, { fileName }: Tasks["index"]["input"]): Promise<IndexedFile> {
  const { sha256, ...inspection } = await indexRecording(source, { fileName, write });
  return { contentSha256: sha256, verdict: judgeFile(inspection) };
}

/** Looks at the heap itself, because V8 at its own limit may end the whole process. */
async function read(offset: number, length: number): Promise<Uint8Array> {
  if (getHeapStatistics().used_heap_size > maxHeapBytes) throw new HeapFull();
  lastId += 1;
  const { promise, resolve } = Promise.withResolvers<Uint8Array<ArrayBuffer>>();
  reading.set(lastId, resolve);
  tell({ kind: "read", id: lastId, offset, length });
  return promise;
}

async function write(bytes: Uint8Array): Promise<void> {
  lastId += 1;
  const { promise, resolve } = Promise.withResolvers<void>();
  writing.set(lastId, resolve);
  tell({ kind: "write", id: lastId, bytes });
  return promise;
}

function tell(message: FromThread): void {
  port.postMessage(message);
}

class HeapFull extends Error {}
