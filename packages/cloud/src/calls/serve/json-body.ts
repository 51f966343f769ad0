import type { IncomingMessage } from "node:http";
import { bodyLimits, createJsonGuard } from "@downlink/protocol";
import type { Context } from "hono";
import { ApiError } from "../../core/errors.ts";
import { type BodyPatience, bodyPatience } from "../../process/limits/limits.ts";
import { newTooLargeError, type Sized, toText } from "../bodies/decode-body.ts";
import type { Env } from "../connections/env.ts";
import { CallerGoneError } from "../connections/new-gone-signal.ts";

const TICKS_PER_STALL = 10;

export async function readJsonText(c: Context<Env>, operation: Sized): Promise<string> {
  return toText(await readJsonBytes(c, operation), operation);
}

/** Refuses a body that is too large for the operation before it is whole and before it is parsed, and one that arrives too slowly. */
export async function readJsonBytes(
  c: Context<Env>,
  { bodySize = "ordinary" }: Sized,
): Promise<Uint8Array<ArrayBuffer>> {
  const limits = bodyLimits[bodySize];
  const { incoming } = c.env;
  const announcedBytes = Number(incoming.headers["content-length"] ?? 0);
  if (announcedBytes > limits.bytes) throw newTooLargeError(`is longer than ${limits.bytes} bytes`);
  // The values of a large body are counted where it is decoded.
  const guard = createJsonGuard(bodySize === "large" ? { bytes: limits.bytes } : limits);
  const pieces: Buffer[] = [];
  await takePieces(incoming, c.get("bodyPatience") ?? bodyPatience, (piece) => {
    const excess = guard.take(piece);
    if (excess !== undefined) throw newTooLargeError(excess);
    pieces.push(piece);
  });
  return Buffer.concat(pieces);
}

/** Leaves the connection open after a failure, so that the refusal can be answered. */
async function takePieces(
  incoming: IncomingMessage,
  patience: BodyPatience,
  take: (piece: Buffer) => void,
): Promise<void> {
  if (incoming.readableEnded) return;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  using watch = watchPace(patience, reject);
  const onData = (piece: Buffer) => {
    watch.received(piece.byteLength);
    try {
      take(piece);
    } catch (error) {
      reject(error);
    }
  };
  const onGone = () => reject(new CallerGoneError());
  const onEnd = () => {
    incoming.off("close", onGone); // this event follows at once, and making an error that is not used costs a twentieth of a hello
    resolve();
  };
  incoming.on("data", onData).once("end", onEnd).once("error", onGone).once("close", onGone);
  try {
    await promise;
  } finally {
    incoming.off("data", onData).off("end", onEnd).off("close", onGone).pause();
  }
}

/** Time is counted in ticks of this process, so that a process that was suspended does not blame the sender. */
function watchPace(patience: BodyPatience, reject: (error: ApiError) => void) {
  const tickMs = patience.stallMs / TICKS_PER_STALL;
  const seen = { ticks: 0, silentTicks: 0, bytes: 0 };
  const timer = setInterval(() => {
    seen.ticks += 1;
    seen.silentTicks += 1;
    const fault = faultOf(patience, { ...seen, passedMs: seen.ticks * tickMs });
    if (fault !== undefined) reject(new ApiError("BodyTimeout", `the body ${fault}`));
  }, tickMs);
  return {
    received(bytes: number): void {
      seen.silentTicks = 0;
      seen.bytes += bytes;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

function faultOf(
  { stallMs, totalMs, leastBytesPerSecond }: BodyPatience,
  seen: { silentTicks: number; bytes: number; passedMs: number },
): string | undefined {
  if (seen.silentTicks >= TICKS_PER_STALL) return `stood still for ${stallMs / 1000} s`;
  if (seen.passedMs >= totalMs) return `was not whole within ${totalMs / 1000} s`;
  const leastBytes = ((seen.passedMs - stallMs) / 1000) * leastBytesPerSecond;
  return seen.bytes < leastBytes ? `came at less than ${leastBytesPerSecond} bytes a second` : undefined;
}
