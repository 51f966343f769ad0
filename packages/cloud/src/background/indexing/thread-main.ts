import { getHeapStatistics } from "node:v8";
import { parentPort, workerData } from "node:worker_threads";
import { indexRecording, type RandomAccessSource } from "@downlink/recordings";
import { judgeFile } from "./judge-file.ts";
import { salvageInPieces } from "./salvage-in-pieces.ts";
import type {
  Answer,
  FromThread,
  IndexedFile,
  Task,
  TaskName,
  Tasks,
  ThreadData,
  ToThread,
} from "./thread-messages.ts";

/*
 * The program of an indexing thread. It has neither store nor database nor environment: bytes come range by range from the process that
 * started it, and what it makes goes back to that process, as does the count of its progress.
 */
const port = parentPort!;
const { maxHeapBytes } = workerData as ThreadData;
const waiting = new Map<number, (answer: Answer) => void>();
let lastId = 0;

type Runners = {
  [N in TaskName]: (source: RandomAccessSource, input: Tasks[N]["input"]) => Promise<Tasks[N]["result"]>;
};

const runners: Runners = {
  index: indexFile,
  salvage: (source, input) => salvageInPieces(source, input, { give, hold }),
};

port.on("message", (message: ToThread) => {
  if (message.kind === "run") return void run(message.task, message.sizeBytes);
  waiting.get(message.id)!(message);
  waiting.delete(message.id);
});

async function run<N extends TaskName>({ name, input }: Task<N>, sizeBytes: number): Promise<void> {
  try {
    const result = await (runners[name] as Runners[N])({ sizeBytes, read }, input);
    const { total_heap_size: heapBytes, external_memory: externalBytes } = getHeapStatistics();
    send({ kind: "done", result, heldBytes: heapBytes + externalBytes });
  } catch (error) {
    send(error instanceof HeapFullError ? { kind: "outOfMemory" } : { kind: "failed", error });
  }
}

async function read(offset: number, length: number): Promise<Uint8Array> {
  const answer = await ask((id) => ({ kind: "read", id, offset, length }));
  if (answer.kind !== "bytes") throw new TypeError("a read was answered with no bytes");
  return answer.bytes;
}

/** Moves one piece of the result to the process that started the thread; resolves once that has room for the next one. */
async function give(piece: Uint8Array): Promise<void> {
  const bytes = new Uint8Array(piece); // a copy with memory of its own, which is moved along
  await ask((id) => ({ kind: "piece", id, bytes }), [bytes.buffer]);
}

/** Waits for a turn in the memory that the whole process shares. */
async function hold(sizeBytes: number): Promise<Disposable> {
  const { id } = await ask((asked) => ({ kind: "hold", id: asked, sizeBytes }));
  return { [Symbol.dispose]: () => send({ kind: "release", id }) };
}

/** Checks the heap itself, because V8 at its own limit may end the whole process. */
async function ask(message: (id: number) => FromThread, transferred: ArrayBuffer[] = []): Promise<Answer> {
  if (getHeapStatistics().used_heap_size > maxHeapBytes) throw new HeapFullError();
  lastId += 1;
  const { promise, resolve } = Promise.withResolvers<Answer>();
  waiting.set(lastId, resolve);
  send(message(lastId), transferred);
  return promise;
}

function send(message: FromThread, transferred: ArrayBuffer[] = []): void {
  port.postMessage(message, transferred);
}

async function indexFile(source: RandomAccessSource, { fileName }: Tasks["index"]["input"]): Promise<IndexedFile> {
  const { sha256, ...inspection } = await indexRecording(source, { fileName, write: give, hold });
  return { contentSha256: sha256, verdict: judgeFile(inspection) };
}

class HeapFullError extends Error {}
