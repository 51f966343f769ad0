import { randomBytes } from "node:crypto";

/** The place of a span in its trace. */
export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  /** Whether the trace is sent to the collector. The first process decides it for all. */
  readonly isSampled: boolean;
}

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 0x01;
/** The last seven bytes of a trace's id are random. */
const RANDOM_DIGITS = 14;

export function parseTraceparent(text: string | undefined): TraceContext | undefined {
  const [, traceId, spanId, flags = "", more] = TRACEPARENT.exec(text ?? "") ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  if (more !== undefined && text?.startsWith("00")) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 };
}

export function formatTraceparent({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
}

/** Makes the place of a new span: within the parent's trace, or at the beginning of one, of which this share is sampled. */
export function beginContext(parent: TraceContext | undefined, share: number): TraceContext {
  const spanId = randomBytes(8).toString("hex");
  if (parent) return { ...parent, spanId };
  const traceId = randomBytes(16).toString("hex");
  const drawn = Number.parseInt(traceId.slice(-RANDOM_DIGITS), 16) / 16 ** RANDOM_DIGITS;
  return { traceId, spanId, isSampled: drawn < share };
}
