import { ExportError, type ExportSelection, type McapExportOptions } from "../export/plan/export-options.ts";
import { RecordingError } from "../faults/reasons.ts";
import { inspectRecording } from "../inspect/inspect.ts";
import { bytesSource } from "../sources/source.ts";
import type { Inspection, RecordingSummary } from "../survey/summary.ts";
import { exportBytes, exportSource } from "./export-bytes.ts";
import { checkValid, requireSame } from "./odd/check-written.ts";
import { type Content, keyOfBody, without } from "./odd/content-key.ts";
import { createDice } from "./odd/dice.ts";
import { compareTimes } from "./odd/layout.ts";
import { OddFileError } from "./odd/odd-file-error.ts";
import { readForward, type Written } from "./odd/read-written.ts";
import type { OddMcap, OddMessage } from "./odd-mcap.ts";

/** How a file was dealt with where every promise was held. */
export interface OddVerdict {
  /** `exact`: everything was given. `refused`: for a reason. `reported`: less was given, and the written files say so. */
  readonly outcome: "exact" | "refused" | "reported";
  /** The reason's code. */
  readonly code?: string;
}

/**
 * Holds the reader and the export to their promise: all messages, or a reason, or a word of what is missing. Throws
 * {@link OddFileError} where less is given without a word, where what was verified cannot be exported, where a file is refused that
 * the format allows, and where a written file is not valid.
 */
export async function holdOddFile(odd: OddMcap): Promise<OddVerdict> {
  const plain = await inspect(odd, false);
  const verified = await inspect(odd, true);
  requireSense(odd, plain, "read by index");
  requireSense(odd, verified, "verified");
  if (odd.isLegal && "summary" in plain) requireSummary(plain.summary, odd.messages, "read by index");
  if ("summary" in verified) return holdAccepted(odd, verified.summary);
  await holdRefused(odd);
  return { outcome: "refused", code: verified.reason.code };
}

function requireSense({ isLegal, messages }: OddMcap, inspection: Inspection, how: string): void {
  if (inspection.state === "empty" && messages.length > 0)
    throw new OddFileError(`${how}: the file counts as empty`, `${messages.length} messages`);
  if (isLegal && "reason" in inspection)
    throw new OddFileError(`${how}: a legal file is refused: ${inspection.reason.code}`, inspection.reason.text);
}

async function inspect({ bytes }: OddMcap, verifyChunks: boolean): Promise<Inspection> {
  try {
    return await inspectRecording(bytesSource(bytes), { fileName: FILE_NAME, verifyChunks, signal: soon() });
  } catch (error) {
    throw new OddFileError("inspecting throws", String(error));
  }
}

const FILE_NAME = "odd.mcap";

/** A hang is a failure too. A file with a channel of each id takes half a minute of computing, and more where others compute. */
function soon(): AbortSignal {
  return AbortSignal.timeout(1_200_000);
}

async function holdAccepted(odd: OddMcap, summary: RecordingSummary): Promise<OddVerdict> {
  if (odd.isDamaged && !summary.damage)
    throw new OddFileError("verified: a damaged file counts as whole", odd.kinds.join(", "));
  requireSummary(summary, odd.messages, "verified");
  let outcome: OddVerdict["outcome"] = "exact";
  for (const { doing, options } of chooseExports(odd)) {
    const { startNs = 0n, endNs = 0n } = summary;
    const source = exportSource(odd.bytes, { fileName: FILE_NAME, startNs, endNs });
    const bytes = await tryExport(() => exportBytes([source], { ...options, signal: soon() }));
    if (!(bytes instanceof Uint8Array)) throw new OddFileError(`${doing}: what was verified is refused`, String(bytes));
    const { messages, reported } = await checkValid(bytes, doing);
    const expected = isOutside(summary, options) ? [] : select(odd.messages, options);
    if (reported.length === 0) requireSame(messages, expected, doing);
    else if (odd.isLegal)
      throw new OddFileError(`${doing}: of a legal file something is left out`, JSON.stringify([...reported[0]!]));
    else requireReported({ messages, reported }, expected, doing);
    if (reported.length > 0) outcome = "reported";
  }
  return { outcome };
}

function requireSummary(summary: RecordingSummary, messages: readonly OddMessage[], how: string): void {
  const times = messages.map(({ logTimeNs }) => logTimeNs).sort(compareTimes);
  const found = [summary.messageCount, summary.startNs, summary.endNs].join(" ");
  const expected = [messages.length, times[0], times.at(-1)].join(" ");
  if (found !== expected && !isDoubted(summary, times))
    throw new OddFileError(`${how}: count or span are wrong`, `${found} and not ${expected}`);
  const counts = new Map<string, number>();
  for (const { topic } of messages) counts.set(topic, (counts.get(topic) ?? 0) + 1);
  for (const { topic, messageCount } of summary.topics) counts.set(topic, (counts.get(topic) ?? 0) - messageCount);
  const [wrong] = [...counts].filter(([, difference]) => difference !== 0);
  if (wrong) throw new OddFileError(`${how}: the count of a topic is wrong`, `${wrong[0]}, by ${-wrong[1]}`);
}

/** The span of a recording is without times that no recorder can have written, if their messages are counted and reported. */
function isDoubted(
  { messageCount, startNs = 0n, endNs = 0n, damage }: RecordingSummary,
  times: readonly bigint[],
): boolean {
  const outside = times.filter((timeNs) => timeNs < startNs || timeNs > endNs).length;
  return messageCount === times.length && outside > 0 && outside <= (damage?.messagesDoubted ?? 0);
}

/** No reader asks a recording for times outside of its span, in which messages with times that no recorder can have written may lie. */
function isOutside(
  { startNs = 0n, endNs = 0n, damage }: RecordingSummary,
  { startNs: fromNs = startNs, endNs: toNs = endNs }: ExportSelection,
): boolean {
  return (damage?.messagesDoubted ?? 0) > 0 && (toNs < startNs || fromNs > endNs);
}

interface OddExport {
  readonly doing: string;
  readonly options: Partial<McapExportOptions>;
}

/** All of it, passed on and rewritten, and two parts. */
function chooseExports(odd: OddMcap): OddExport[] {
  const dice = createDice(odd.seed + 1_000_000_007);
  const { compression, messages } = odd;
  const dataBytes = messages.reduce((sum, { data }) => sum + data.byteLength, 0);
  const other = dice.pick((["", "lz4", "zstd"] as const).filter((each) => each !== compression));
  const parts = [1, 2].map((): OddExport => {
    const selection = chooseSelection(odd, dice);
    const manner = {
      compression: dice.pick([compression, other]),
      readsWholeChunks: dice.chance(0.5),
      includeAttachments: dice.chance(0.5),
      // Too little for what overlaps, so that it is read more than once.
      memoryBudgetBytes: dataBytes < 20_000 && dice.chance(0.3) ? 4000 : undefined,
    };
    return { doing: "part", options: { ...selection, ...manner } };
  });
  return [
    { doing: "passed on", options: { compression } },
    { doing: "rewritten", options: { compression: other } },
    ...parts,
  ];
}

function chooseSelection({ messages }: OddMcap, dice: ReturnType<typeof createDice>): ExportSelection {
  // No caller can ask for times that do not fit into signed 64 bits; messages with such times count as the last ones.
  const times = messages.map(({ logTimeNs }) => logTimeNs).filter((timeNs) => timeNs < 2n ** 63n - 1n);
  const topics = [...new Set(messages.map(({ topic }) => topic))];
  const [a, b] = [0, 1].map(() => near(dice.pick([0n, ...times]), dice)).sort(compareTimes);
  return {
    topics: dice.chance(0.3) ? [] : dice.pickSome([...topics, "/none"]),
    startNs: dice.chance(0.3) ? undefined : a,
    endNs: dice.chance(0.3) ? undefined : b,
  };
}

function near(timeNs: bigint, dice: ReturnType<typeof createDice>): bigint {
  const moved = timeNs + dice.pick([-1n, 0n, 0n, 1n]);
  return moved < 0n || moved >= 2n ** 63n ? timeNs : moved;
}

function select(messages: readonly OddMessage[], { topics = [], startNs, endNs }: ExportSelection): OddMessage[] {
  const wanted = new Set(topics);
  return messages.filter(
    ({ topic, logTimeNs, isSound }) =>
      // Messages with times from 2^63 on are marked, and given all the same.
      (isSound || logTimeNs >= 2n ** 63n) &&
      (wanted.size === 0 || wanted.has(topic)) &&
      (startNs === undefined || logTimeNs >= startNs) &&
      (endNs === undefined || logTimeNs <= endNs),
  );
}

/** A file that was refused never gives less without a report, also where it is exported. */
async function holdRefused(odd: OddMcap): Promise<void> {
  const sound = odd.messages.filter(({ isSound }) => isSound).map(keyOfBody);
  for (const compression of ["", "lz4", "zstd"] as const) {
    const options = { fileName: FILE_NAME, compression, signal: soon() };
    const bytes = await tryExport(() => exportBytes(odd.bytes, options));
    const written = bytes instanceof Uint8Array ? tryReading(bytes) : undefined;
    if (!written || written.reported.length > 0) continue;
    const missing = without(sound, written.messages.map(keyOfBody));
    if (missing.length === 0) continue;
    const counts = `${missing.length} of ${sound.length}, e.g. ${missing[0]}`;
    throw new OddFileError("whole, although it was refused: messages are missing", counts);
  }
  await holdSalvage(odd);
}

/** A written file that cannot be read is a report in itself. */
function tryReading(bytes: Uint8Array): Written | undefined {
  try {
    return readForward(bytes);
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}

/**
 * A salvage is a whole file, of messages that were written, and of all that the slow reader finds. As `salvageRecording` does it, which
 * starts a thread each time. Where an id is given twice, differently, no reader can know what the messages are of, and the format has no
 * records of the type 0: a chunk with either may be left out.
 */
async function holdSalvage(odd: OddMcap): Promise<void> {
  const source = exportSource(odd.bytes, { fileName: FILE_NAME, isSalvage: true });
  const bytes = await tryExport(() => exportBytes([source], { compression: "lz4", signal: soon() }));
  const { messages } = bytes instanceof Uint8Array ? await checkValid(bytes, "salvage") : { messages: [] };
  if (odd.knownBy === "writer") return requireNoMore(messages, odd.messages, "salvage");
  const sound = odd.messages.filter(({ isSound }) => isSound).map(keyOfBody);
  const missing = odd.isUnclear ? [] : without(sound, messages.map(keyOfBody));
  if (missing.length === 0) return;
  const counts = `${missing.length} of ${sound.length}, e.g. ${missing[0]}`;
  throw new OddFileError("salvage: messages that the slow reader finds are missing", counts);
}

/** The part that is left out is not reported smaller than it is. Indexes that lie may make it larger. */
function requireReported({ messages, reported }: Written, expected: readonly Content[], doing: string): void {
  requireNoMore(messages, expected, doing);
  const missing = expected.length - messages.length;
  const count = reported[0]?.get("messagesLost") ?? "";
  if (count.startsWith("at least ") || Number(count) >= missing) return;
  throw new OddFileError(`${doing}: more is left out than is reported`, `${count} and not ${missing}`);
}

function requireNoMore(found: readonly Content[], written: readonly Content[], doing: string): void {
  const extra = without(found.map(keyOfBody), written.map(keyOfBody));
  if (extra.length > 0) throw new OddFileError(`${doing}: messages are invented`, `${extra.length}, e.g. ${extra[0]}`);
}

async function tryExport(work: () => Promise<Uint8Array>): Promise<Uint8Array | Error> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RecordingError || error instanceof ExportError) return error;
    throw new OddFileError("an export throws something else than a reason", String(error));
  }
}
