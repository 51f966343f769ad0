/** A time in which messages are, from the first to the last one. Both ends are inclusive. */
export interface MessageSpan {
  readonly startNs: bigint;
  readonly endNs: bigint;
}

/** The most spans of a recording. */
export const MAX_MESSAGE_SPANS = 64;
/** Shorter gaps are pauses of the recording. */
export const LEAST_GAP_NS = 3_600_000_000_000n;
/** A gap is longer than the whole divided by this. */
const GAP_SHARE = 100n;
const MOST_HELD = 1024;

/**
 * Makes the spans of a recording of the spans of its parts, which come in any order and may overlap. They are sorted and disjoint, begin with
 * the first part and end with the last one, and every part lies in one of them.
 *
 * The longest gap splits the recording if it is longer than an hour and than a hundredth of the whole; the two sides are split in the same
 * way. So a clock that jumped by 56 years hides no pause of days behind it, and a logger with a message every two hours has one span. If
 * there were more than {@link MAX_MESSAGE_SPANS}, the shortest gaps are closed.
 */
export function toMessageSpans(parts: readonly MessageSpan[]): MessageSpan[] {
  return closeShortest(splitAtGaps(joinNear(parts)));
}

/** Gathers the parts of a recording while it is read, in little memory. */
export interface SpanNotes {
  note(startNs: bigint, endNs: bigint): void;
  toSpans(): MessageSpan[];
}

export function createSpanNotes(): SpanNotes {
  let held: { startNs: bigint; endNs: bigint }[] = [];
  return {
    note(startNs, endNs) {
      const last = held.at(-1);
      if (last && isNear(last, startNs, endNs)) {
        if (startNs < last.startNs) last.startNs = startNs;
        if (endNs > last.endNs) last.endNs = endNs;
        return;
      }
      if (held.length === MOST_HELD) held = toMessageSpans(held);
      held.push({ startNs, endNs });
    },
    toSpans: () => toMessageSpans(held),
  };
}

interface NotedTally extends Partial<MessageSpan> {
  readonly parts?: SpanNotes | undefined;
}

/** Notes when the messages of a tally are: in its parts, if they are known, or in its span. */
export function noteTally(notes: SpanNotes, { startNs, endNs, parts }: NotedTally): void {
  if (startNs === undefined || endNs === undefined) return;
  for (const part of parts?.toSpans() ?? [{ startNs, endNs }]) notes.note(part.startNs, part.endNs);
}

/** Most times are those behind the last one. */
function isNear(last: MessageSpan, startNs: bigint, endNs: bigint): boolean {
  if (startNs >= last.startNs) return startNs - last.endNs <= LEAST_GAP_NS;
  return last.startNs - endNs <= LEAST_GAP_NS;
}

function joinNear(parts: readonly MessageSpan[]): { startNs: bigint; endNs: bigint }[] {
  const joined: { startNs: bigint; endNs: bigint }[] = [];
  for (const { startNs, endNs } of parts.toSorted(compareStarts)) {
    const last = joined.at(-1);
    if (!last || startNs > last.endNs + LEAST_GAP_NS) joined.push({ startNs, endNs });
    else if (endNs > last.endNs) last.endNs = endNs;
  }
  return joined;
}

function compareStarts(a: MessageSpan, b: MessageSpan): number {
  if (a.startNs === b.startNs) return 0;
  return a.startNs < b.startNs ? -1 : 1;
}

/** The parts are sorted and disjoint. */
function splitAtGaps(parts: readonly MessageSpan[]): MessageSpan[] {
  if (parts.length < 2) return [...parts];
  const at = findGap(parts, (gapNs, foundNs) => gapNs > foundNs);
  const whole = { startNs: parts[0]!.startNs, endNs: parts.at(-1)!.endNs };
  if (gapBefore(parts, at) * GAP_SHARE <= whole.endNs - whole.startNs) return [whole];
  return [...splitAtGaps(parts.slice(0, at)), ...splitAtGaps(parts.slice(at))];
}

function closeShortest(spans: readonly MessageSpan[]): MessageSpan[] {
  const closed = [...spans];
  while (closed.length > MAX_MESSAGE_SPANS) {
    const at = findGap(closed, (gapNs, foundNs) => gapNs < foundNs);
    closed.splice(at - 1, 2, { startNs: closed[at - 1]!.startNs, endNs: closed[at]!.endNs });
  }
  return closed;
}

/** Answers which part stands behind the gap that is better than all others, the first of several. */
function findGap(parts: readonly MessageSpan[], isBetter: (gapNs: bigint, foundNs: bigint) => boolean): number {
  let found = 1;
  for (let at = 2; at < parts.length; at += 1) if (isBetter(gapBefore(parts, at), gapBefore(parts, found))) found = at;
  return found;
}

function gapBefore(parts: readonly MessageSpan[], at: number): bigint {
  return parts[at]!.startNs - parts[at - 1]!.endNs;
}
