import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";

export interface RequestCounts {
  readonly requests: number;
  readonly reads: number;
  readonly sentBytes: number;
}

export interface RequestProxy extends AsyncDisposable {
  readonly endpoint: string;
  /** Delays every request for this time from now on, before any of it goes on. */
  setDelay(ms: number): void;
  /** Returns the counts since the last call: all requests, those that read an object, and the bytes of the answers. */
  takeCounts(): RequestCounts;
}

/** Starts a proxy between a control plane and its bucket that streams both ways, and counts. */
export async function startRequestProxy(target: string): Promise<RequestProxy> {
  const agent = new Agent({ keepAlive: true });
  let delayMs = 0;
  let counts = { requests: 0, reads: 0, sentBytes: 0 };
  const pass = async (incoming: IncomingMessage, answer: ServerResponse): Promise<void> => {
    counts.requests += 1;
    if (incoming.method === "GET" && incoming.url!.includes("x-id=GetObject")) counts.reads += 1;
    if (delayMs > 0) await delay(delayMs);
    const { method, url, headers } = incoming;
    const onward = request(target, { agent, method: method!, path: url!, headers });
    answer.on("close", () => onward.destroy());
    incoming.pipe(onward);
    const [received] = (await once(onward, "response")) as [IncomingMessage];
    answer.writeHead(received.statusCode!, received.headers);
    received.on("data", (piece: Buffer) => {
      counts.sentBytes += piece.byteLength;
    });
    await pipeline(received, answer);
  };
  const server = createServer((incoming, answer) => void pass(incoming, answer).catch(() => answer.destroy()));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setDelay(ms) {
      delayMs = ms;
    },
    takeCounts() {
      const taken = counts;
      counts = { requests: 0, reads: 0, sentBytes: 0 };
      return taken;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      agent.destroy();
      await once(server, "close");
    },
  };
}
