import { parseTime } from "./parse-time.ts";
import type { TypedRange } from "./range.ts";

interface ReadSpan {
  /** Undefined where an end cannot be read. */
  readonly span: { readonly startNs: bigint; readonly endNs: bigint } | undefined;
  readonly problems: SpanProblems;
}

export interface SpanProblems {
  readonly from?: string;
  readonly to?: string;
}

/** Reads a span of which both ends were typed; what cannot be read is named. */
export function readSpan(typed: TypedRange, at: Parameters<typeof parseTime>[1]): ReadSpan {
  const [from, to] = [parseTime(typed.from, at), parseTime(typed.to, at)];
  const problems = {
    ...("problem" in from ? { from: from.problem } : {}),
    ...("problem" in to ? { to: to.problem } : {}),
  };
  if ("problem" in from || "problem" in to) return { span: undefined, problems };
  if (from.timeNs > to.timeNs) return { span: undefined, problems: { to: "The end lies before the start." } };
  return { span: { startNs: from.timeNs, endNs: to.timeNs }, problems };
}
