import type { IncomingMessage, Server, ServerOptions, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Context } from "hono";
import type { ConnectionLimits } from "../../process/limits/limits.ts";
import type { Env } from "./env.ts";

const MAX_HEADER_BYTES = 64 * 1024; // an export link may name hundreds of topics
/** Node checks for late headers only every 30 s by default. */
const LOOK_MS = 1000;
const LOOKS_PER_STALL = 10;
/** Longer than a client's first request is on its way. */
const UNUSED_MS = 1000;
const PROVEN = "downlink:proven";

export function serverOptions({ headersMs, idleMs }: ConnectionLimits): ServerOptions {
  return {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: headersMs,
    keepAliveTimeout: idleMs,
    requireHostHeader: false, // it is checked where the answer can say so
    requestTimeout: 0, // an upload takes as long as it takes
    connectionsCheckingInterval: Math.min(LOOK_MS, headersMs),
  };
}

/** `addressOf` returns undefined for addresses that are not counted, as those of the proxies of this deployment. */
export function boundConnections(
  server: Server,
  limits: ConnectionLimits,
  addressOf: (socket: Socket) => string | undefined,
): void {
  server.maxConnections = limits.most;
  const unproven = new UnprovenConnections(limits);
  server.on("connection", (socket: Socket) => {
    const address = addressOf(socket);
    if (address !== undefined) unproven.add(address, socket);
  });
  server.on("request", ({ socket }: IncomingMessage, answer: ServerResponse) => {
    unproven.leaveAlone(socket, answer);
    endUnread(answer, limits.unreadMs);
  });
}

/** The client at the other end has a valid token or link. */
export function proveConnection(c: Context<Env>): void {
  c.env.incoming.socket?.emit(PROVEN); // Node removes the socket from a request that was broken off
}

/**
 * Returns a function that closes the connections by which nothing has come. Browsers open some ahead of their calls, and Node counts them
 * among the busy ones, so that each of them would hold up the end of a process for its whole grace time. New ones stay: the first request by
 * them may be on its way.
 */
export function watchUnused(server: Server): () => void {
  /** The time on the monotonic clock since when each of them is open. */
  const sinceMs = new Map<Socket, number>();
  server.on("connection", (socket: Socket) => {
    sinceMs.set(socket, performance.now());
    socket.once("close", () => sinceMs.delete(socket));
  });
  server.on("request", ({ socket }: IncomingMessage) => sinceMs.delete(socket));
  return () => {
    const lastMs = performance.now() - UNUSED_MS;
    for (const [socket, openMs] of sinceMs) if (openMs <= lastMs && socket.bytesRead === 0) socket.destroy();
  };
}

/**
 * The connection that has waited longest is closed, not the newest one: a fleet may share its address with an attacker, and proves itself
 * at once.
 */
class UnprovenConnections {
  readonly #limits: ConnectionLimits;
  /** The time on the monotonic clock since when each connection waits; the first one is the oldest. */
  readonly #byAddress = new Map<string, Map<Socket, number>>();
  readonly #addresses = new Map<Socket, string>();

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  add(address: string, socket: Socket): void {
    this.#addresses.set(socket, address);
    const forget = () => {
      this.#addresses.delete(socket);
      this.#stopWaiting(address, socket);
    };
    socket.once(PROVEN, forget).once("close", forget);
    this.#wait(address, socket);
  }

  /** The connection is not counted until the request is answered: a request without a token is refused at once. */
  leaveAlone(socket: Socket, answer: ServerResponse): void {
    const address = this.#addresses.get(socket);
    if (address === undefined) return;
    this.#stopWaiting(address, socket);
    answer.once("close", () => {
      if (this.#addresses.has(socket)) this.#wait(address, socket);
    });
  }

  #wait(address: string, socket: Socket): void {
    const waiting = this.#byAddress.get(address) ?? new Map<Socket, number>();
    const sinceMs = performance.now();
    this.#byAddress.set(address, waiting.set(socket, sinceMs));
    const { unprovenPerAddress, unprovenMs } = this.#limits;
    for (const [oldest, oldestMs] of waiting) {
      if (waiting.size <= unprovenPerAddress || oldestMs + unprovenMs > sinceMs) return;
      waiting.delete(oldest);
      oldest.destroy();
    }
  }

  #stopWaiting(address: string, socket: Socket): void {
    const waiting = this.#byAddress.get(address);
    if (waiting?.delete(socket) && waiting.size === 0) this.#byAddress.delete(address);
  }
}

/** Once all of an answer was passed on, only its receiver can hold it up. Time is counted in ticks, as in `json-body.ts`. */
function endUnread(answer: ServerResponse, unreadMs: number): void {
  answer.once("prefinish", () => {
    const { socket } = answer;
    if (!socket || socket.writableLength === 0) return;
    const seen = { looks: 0, readBytes: readBytesOf(socket) };
    const timer = setInterval(() => {
      const readBytes = readBytesOf(socket);
      seen.looks = readBytes === seen.readBytes ? seen.looks + 1 : 0;
      seen.readBytes = readBytes;
      if (seen.looks >= LOOKS_PER_STALL) socket.destroy();
    }, unreadMs / LOOKS_PER_STALL);
    answer.once("close", () => clearInterval(timer));
  });
}

function readBytesOf(socket: Socket): number {
  return socket.bytesWritten - socket.writableLength;
}
