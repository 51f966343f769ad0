import type { Reason } from "../faults/reasons.ts";
import type { RecordingDamage } from "../survey/summary.ts";
import type { DamageLine } from "./index-layout.ts";

/** Notes what of a recording cannot be read. */
export interface DamageLog {
  addChunk(chunk: { offset: number; end: number; reason: Reason; messagesLost: number | undefined }): void;
  /**
   * Adds bytes that make no sense, up to where something makes sense again. `begun` is the chunk whose rest they are: its messages were
   * taken because they make sense, not because anything says that they are whole.
   */
  addGap(gap: { offset: number; end: number; reason: Reason; begun?: BegunPart | undefined }): void;
  addAttachment(offset: number, reason: Reason, name: string | undefined): void;
  addSummary(offset: number, reason: Reason): void;
  /** Adds a wrong checksum that nothing depends on. */
  addChecksum(offset: number, reason: Reason): void;
  /** Adds something that the file says it has, and that was not found. */
  addUntraced(offset: number, text: string): void;
  /** Adds messages of `place` whose times contradict what the file says of them, and which are kept. */
  addDoubted(place: string, doubted: { offset: number; messageCount: number }): void;
  /** Adds messages that are given, and whose channel nothing proves. */
  addGuessed(reason: Reason, messageCount: number): void;
  /** Adds messages whose topic is unknown. */
  addUnknownChannel(reason: Reason, messagesLost: number): void;
  readonly lines: readonly DamageLine[];
  sum(): RecordingDamage | undefined;
}

interface BegunPart {
  readonly messageCount: number;
}

export function createDamageLog(): DamageLog {
  const lines: DamageLine[] = [];
  const sums = newSums();
  let count = 0;
  const add = (line: DamageLine): void => {
    count += 1;
    if (lines.length < MOST_LINES) lines.push(line);
  };
  return {
    lines,
    addChunk({ offset, end, reason, messagesLost }) {
      sums.chunksLost += 1;
      sums.bytesLost += end - offset;
      sums.messagesLost += messagesLost ?? 0;
      sums.isCountKnown &&= messagesLost !== undefined;
      add({ kind: "chunk", offset, ...reason, messagesLost });
    },
    addGap({ offset, end, reason, begun }) {
      sums.isCountKnown = false;
      sums.bytesLost += end - offset;
      sums.messagesGuessed += begun?.messageCount ?? 0;
      add({ kind: "gap", offset, code: reason.code, text: `${reason.text}${describeGap(offset, end, begun)}` });
    },
    addAttachment(offset, reason, name) {
      sums.attachmentsLost += 1;
      add({ kind: "attachment", offset, ...reason, name });
    },
    addSummary: (offset, reason) => add({ kind: "summary", offset, ...reason }),
    addChecksum: (offset, reason) => add({ kind: "checksum", offset, ...reason }),
    addUntraced(offset, text) {
      sums.isCountKnown = false;
      add({ kind: "untraced", offset, code: "BadSummary", text });
    },
    addDoubted(place, { offset, messageCount }) {
      sums.messagesDoubted += messageCount;
      add({ kind: "times", offset, code: "InvalidTime", text: describeDoubt(place, messageCount) });
    },
    addGuessed(reason, messageCount) {
      sums.messagesGuessed += messageCount;
      add({ kind: "summary", offset: 0, ...reason });
    },
    addUnknownChannel(reason, messagesLost) {
      sums.messagesLost += messagesLost;
      add({ kind: "gap", offset: 0, ...reason, messagesLost });
    },
    sum() {
      if (count === 0) return undefined;
      const reasons = lines.slice(0, MOST_REASONS).map(({ code, text }) => ({ code: code as Reason["code"], text }));
      return { ...withoutZeros(sums), reasons };
    },
  };
}

function newSums() {
  const counts = { chunksLost: 0, messagesLost: 0, attachmentsLost: 0, bytesLost: 0 };
  return { ...counts, messagesGuessed: 0, messagesDoubted: 0, isCountKnown: true };
}

function describeDoubt(place: string, messageCount: number): string {
  return `${place} holds ${messageCount} messages with impossible times; they are kept, and the recording's span is without them`;
}

function withoutZeros(sums: Required<Omit<RecordingDamage, "reasons">>): Omit<RecordingDamage, "reasons"> {
  const { messagesGuessed, messagesDoubted, ...others } = sums;
  return {
    ...others,
    ...(messagesGuessed > 0 && { messagesGuessed }),
    ...(messagesDoubted > 0 && { messagesDoubted }),
  };
}

function describeGap(offset: number, end: number, begun: BegunPart | undefined): string {
  const taken = begun ? `; ${begun.messageCount} messages at its beginning make sense and are taken` : "";
  return `${taken}; ${end - offset} bytes from byte ${offset} on are left out`;
}

/** A file may be damaged in a million places. A reader of a thousand lines trusts the sums for the rest. */
const MOST_LINES = 1000;
const MOST_REASONS = 10;
