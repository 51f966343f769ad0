import { once } from "node:events";
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { createPacketLoss } from "./packet-loss.ts";

export interface TcpProxy extends AsyncDisposable {
  readonly url: string;
  /** Sets the URL to which connections go from now on; undefined: nowhere, as before the first call. */
  leadTo(url: string | undefined): void;
  /** Returns how many bytes went through towards the target so far. */
  sentBytes(): number;
  /** Returns how many bytes came back from the target so far. */
  returnedBytes(): number;
  /** From this many bytes on nothing goes through towards the target; Infinity lets everything through. */
  holdAfter(bytes: number): void;
  /** Resolves once that many bytes were held up. */
  held(): Promise<void>;
  /** Lets so many bytes a second through towards the target, of all connections together; Infinity sets no limit. */
  throttle(bytesPerSecond: number): void;
  /** Loses this share, in [0, 1), of what goes through in both directions; TCP sends it again. */
  lose(share: number): void;
  /** Flips one bit in the next piece towards the target that is at least this long. Resolves once that is done. */
  corrupt(minPieceBytes: number): Promise<void>;
  /** Drops every connection with what is in flight on it, as a cut link does. */
  cut(): void;
  /** Existing connections carry nothing any more, for ever, and neither side is informed. New ones work. */
  swallow(): void;
}

interface Tunnel {
  readonly near: Socket;
  readonly far: Socket;
  isSwallowed: boolean;
}

/** Starts a link between an agent and the cloud that can be held up, slowed down, disturbed and cut. It is on the loopback by default. */
export async function startTcpProxy({ port = 0, host = "127.0.0.1" } = {}): Promise<TcpProxy> {
  let target: NetConnectOpts | undefined;
  const tunnels = new Set<Tunnel>();
  const { slicesOf, beforePiece, afterPiece, forget, ...upload } = createUploadControl();
  const loss = createPacketLoss();
  const beforeUpload = async (piece: Buffer) => {
    await loss.pass();
    await beforePiece(piece);
  };
  let returned = 0;
  const passBack = async (piece: Buffer) => {
    await loss.pass();
    returned += piece.length;
  };
  const server = createServer((near) => {
    if (!target) return void near.destroy();
    const tunnel = openTunnel(tunnels, near, connect(target));
    carry(tunnel, { from: near, to: tunnel.far, slicesOf, before: beforeUpload, after: afterPiece });
    const back = { slicesOf: (piece: Buffer) => [piece], before: passBack, after: async () => undefined };
    carry(tunnel, { from: tunnel.far, to: near, ...back });
  });
  server.listen(port, host);
  await once(server, "listening");
  const cut = () => {
    forget();
    // This does not use resetAndDestroy: a socket with a pending write then never closes, and Node would wait for it at its own end for
    // ever.
    for (const { near, far } of tunnels) for (const socket of [near, far]) socket.destroy();
  };
  return {
    ...upload,
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    leadTo(url): void {
      target = url === undefined ? undefined : targetOf(url);
    },
    returnedBytes: () => returned,
    lose: loss.set,
    cut,
    swallow: () => tunnels.forEach(swallow),
    async [Symbol.asyncDispose]() {
      server.close();
      cut();
    },
  };
}

function targetOf(url: string): NetConnectOpts {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}

/** A tunnel is kept until both sides are closed: a swallowed one closes on one side only. */
function openTunnel(tunnels: Set<Tunnel>, near: Socket, far: Socket): Tunnel {
  const tunnel = { near, far, isSwallowed: false };
  tunnels.add(tunnel);
  const forgetClosed = () => near.destroyed && far.destroyed && tunnels.delete(tunnel);
  for (const socket of [near, far]) socket.once("close", forgetClosed);
  return tunnel;
}

function swallow(tunnel: Tunnel): void {
  tunnel.isSwallowed = true;
  for (const socket of [tunnel.near, tunnel.far]) socket.pause();
}

interface Direction {
  readonly from: Socket;
  readonly to: Socket;
  /** Splits a piece into slices that go on at once. */
  readonly slicesOf: (piece: Buffer) => Buffer[];
  /** Returns what a slice waits for before it goes on; `after` returns what the next slice waits for after it. */
  readonly before: (slice: Buffer) => Promise<void>;
  readonly after: (slice: Buffer) => Promise<void> | undefined;
}

/** Passes pieces on in their order. The end of one side ends the other. */
function carry(tunnel: Tunnel, { from, to, slicesOf, before, after }: Direction): void {
  from.on("data", async (piece: Buffer) => {
    from.pause();
    for (const slice of slicesOf(piece)) {
      await before(slice);
      if (tunnel.isSwallowed || to.destroyed) return;
      await new Promise<unknown>((done) => to.write(slice, done));
      await after(slice);
    }
    if (!tunnel.isSwallowed) from.resume();
  });
  const end = () => {
    if (!tunnel.isSwallowed) to.destroy();
  };
  from.on("error", end);
  from.on("close", end);
}

/** How much a late timer may cost: so much is caught up, or the link would be slower than it should be. */
const LATE_MS = 20;

/** A slow link passes on at once what it carries in this time: nothing arrives too early, and little is lost with a cut. */
const SLICE_MS = 50;
const SMALLEST_SLICE_BYTES = 256;

/** Controls what happens to the bytes towards the target. */
function createUploadControl() {
  const { hold, forget, ...holding } = createHold();
  const disturbance = createDisturbance();
  let bytesPerMs = Number.POSITIVE_INFINITY;
  let freeAtMs = 0;
  return {
    ...holding,
    forget,
    corrupt: disturbance.expect,
    slicesOf(piece: Buffer): Buffer[] {
      const most = Math.max(SMALLEST_SLICE_BYTES, Math.floor(bytesPerMs * SLICE_MS));
      const slices: Buffer[] = [];
      for (let at = 0; at < piece.length; at += most) slices.push(piece.subarray(at, at + most));
      return slices;
    },
    throttle(bytesPerSecond: number): void {
      bytesPerMs = bytesPerSecond / 1000;
    },
    async beforePiece(piece: Buffer): Promise<void> {
      await hold(piece);
      disturbance.disturb(piece);
    },
    afterPiece(piece: Buffer): Promise<void> | undefined {
      freeAtMs = Math.max(freeAtMs, performance.now() - LATE_MS) + piece.length / bytesPerMs;
      const delayMs = freeAtMs - performance.now();
      return delayMs < 1 ? undefined : delay(delayMs);
    },
  };
}

function createHold() {
  let sent = 0;
  let limit = Number.POSITIVE_INFINITY;
  let whenHeld = Promise.withResolvers<void>();
  let limitChanged = Promise.withResolvers<void>();
  return {
    sentBytes: () => sent,
    held: () => whenHeld.promise,
    holdAfter(bytes: number): void {
      limit = bytes;
      whenHeld = Promise.withResolvers();
      limitChanged.resolve();
      limitChanged = Promise.withResolvers();
    },
    async hold(piece: Buffer): Promise<void> {
      while (sent + piece.length > limit) {
        whenHeld.resolve();
        await limitChanged.promise;
      }
      sent += piece.length;
    },
    /** Everything that is held up never goes on. */
    forget(): void {
      limitChanged = Promise.withResolvers();
    },
  };
}

function createDisturbance() {
  let next: { minPieceBytes: number; done: () => void } | undefined;
  return {
    expect: (minPieceBytes: number) => new Promise<void>((done) => (next = { minPieceBytes, done })),
    disturb(piece: Buffer): void {
      if (!next || piece.length < next.minPieceBytes) return;
      const middle = piece.length >> 1;
      piece[middle] = piece[middle]! ^ 1;
      next.done();
      next = undefined;
    },
  };
}
