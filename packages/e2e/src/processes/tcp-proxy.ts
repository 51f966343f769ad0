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
  /** Drops every connection with what is under way on it, as a cut link does. */
  cut(): void;
}

/** A link between an agent and the cloud that can be held up and cut. Loopback only. */
export async function startTcpProxy(target: { host: string; port: number }, port = 0): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const waiting = new Set<() => void>();
  let sent = 0;
  let limit = Number.POSITIVE_INFINITY;
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
        far.write(bytes, () => near.resume());
      }
    });
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
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
    cut,
    [Symbol.asyncDispose]: async () => {
      server.close();
      cut();
    },
  };
}
