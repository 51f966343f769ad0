import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface TcpProxy extends AsyncDisposable {
  readonly url: string;
  /** Bytes that went through towards the target so far. */
  sentBytes(): number;
  /** From this many bytes on nothing goes through towards the target; Infinity lets all through. */
  holdAfter(bytes: number): void;
  /** Resolves once that many bytes were held up. */
  held(): Promise<void>;
  /** So many bytes a second go through towards the target, of all connections together; Infinity: as fast as it goes. */
  throttle(bytesPerSecond: number): void;
  /** Turns one bit over in the next piece towards the target that is at least so long. Resolves once that is done. */
  corrupt(minPieceBytes: number): Promise<void>;
  /** Drops every connection with what is under way on it, as a cut link does. */
  cut(): void;
}

/** A link between an agent and the cloud that can be held up, slowed down, disturbed and cut. Loopback only. */
export async function startTcpProxy(target: { host: string; port: number }, port = 0): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const waiting = new Set<() => void>();
  let sent = 0;
  let limit = Number.POSITIVE_INFINITY;
  let bytesPerMs = Number.POSITIVE_INFINITY;
  let freeAtMs = 0;
  let corruption: { minPieceBytes: number; done: () => void } | undefined;
  let tellHeld = Promise.withResolvers<void>();
  const server = createServer((near) => {
    const far = connect(target);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
    }
    far.pipe(near);
    near.on("data", (bytes) => {
      near.pause();
      forward();
      function forward(): void {
        if (sent + bytes.length > limit) {
          tellHeld.resolve();
          waiting.add(forward);
          return;
        }
        sent += bytes.length;
        if (corruption && bytes.length >= corruption.minPieceBytes) disturb(bytes);
        freeAtMs = Math.max(freeAtMs, performance.now()) + bytes.length / bytesPerMs;
        const delayMs = freeAtMs - performance.now();
        far.write(bytes, () => (delayMs < 1 ? near.resume() : setTimeout(() => near.resume(), delayMs)));
      }
    });
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  function disturb(bytes: Buffer): void {
    const middle = bytes.length >> 1;
    bytes[middle] = bytes[middle]! ^ 1;
    corruption?.done();
    corruption = undefined;
  }
  const cut = () => {
    waiting.clear();
    // Not resetAndDestroy: a socket with a write under way then never closes, and Node waits for it at its own end for ever.
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sentBytes: () => sent,
    holdAfter: (bytes) => {
      limit = bytes;
      tellHeld = Promise.withResolvers<void>();
      const resumed = [...waiting];
      waiting.clear();
      for (const forward of resumed) forward();
    },
    held: () => tellHeld.promise,
    throttle: (bytesPerSecond) => {
      bytesPerMs = bytesPerSecond / 1000;
    },
    corrupt: (minPieceBytes) => new Promise((done) => (corruption = { minPieceBytes, done })),
    cut,
    [Symbol.asyncDispose]: async () => {
      server.close();
      cut();
    },
  };
}
