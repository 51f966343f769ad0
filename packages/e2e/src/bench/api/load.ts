// A process of its own that keeps a number of connections busy, each with one request after another.
//
// The first request of each connection is not timed. libuv accepts one connection in each turn of the event loop, so the last of 50 new
// connections waits for 50 turns while the first ones are served again and again: up to 1.3 s by a bare server of Node that computes 1 ms for
// each request, and 3.4 s by the control plane on busy processors. That was the 99th percentile of the slow operations, on both sides.
import { RawConnection } from "./raw-connection.ts";

export interface Order {
  readonly port: number;
  /** One request for each connection, as it is sent. */
  readonly requests: readonly string[];
  readonly durationMs: number;
}

export interface Load {
  /** How many requests were answered, with those that are not timed. */
  readonly count: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

process.on("message", (order: Order) => {
  void run(order).then(
    (load) => process.send!({ load }),
    (error: Error) => process.send!({ failure: error.message }),
  );
});
process.on("disconnect", () => process.exit());

async function run({ port, requests, durationMs }: Order): Promise<Load> {
  const connections = await Promise.all(requests.map(() => RawConnection.open(port)));
  await Promise.all(connections.map((one, index) => sendOne(one, requests[index]!)));
  const startedMs = performance.now();
  const deadlineMs = startedMs + durationMs;
  const timesMs: number[] = [];
  await Promise.all(connections.map((one, index) => repeat(one, { request: requests[index]!, deadlineMs, timesMs })));
  const seconds = (performance.now() - startedMs) / 1000;
  for (const one of connections) one.close();
  timesMs.sort((a, b) => a - b);
  const count = timesMs.length + connections.length;
  return { count, perSecond: timesMs.length / seconds, p50Ms: quantile(timesMs, 0.5), p99Ms: quantile(timesMs, 0.99) };
}

interface Repeated {
  readonly request: string;
  readonly deadlineMs: number;
  readonly timesMs: number[];
}

async function repeat(connection: RawConnection, { request, deadlineMs, timesMs }: Repeated): Promise<void> {
  for (let atMs = performance.now(); atMs < deadlineMs; ) {
    await sendOne(connection, request);
    const doneMs = performance.now();
    timesMs.push(doneMs - atMs);
    atMs = doneMs;
  }
}

async function sendOne(connection: RawConnection, request: string): Promise<void> {
  const { status } = await connection.send(request);
  if (status >= 300) throw new Error(`answered ${status}: ${request.split("\r\n")[0]}`);
}

function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
