import type { MessageRun, SurveyOptions } from "../message-run.ts";
import type { ReadContext } from "../read-context.ts";
import { addChunk, type Survey } from "../survey.ts";
import { openWindowReader } from "../window-reader.ts";
import { indexMcap } from "./index-mcap.ts";
import type { McapEnd } from "./mcap-end.ts";
import { magic, opcodes, recordHeadBytes } from "./opcodes.ts";
import { parseRecordHead } from "./record-head.ts";
import type { ChunkIndex } from "./records.ts";
import { edgesOf, type SummarySection } from "./summary-section.ts";

/**
 * The survey and the runs of a file from its summary alone. `undefined` when the summary does not prove that its chunk
 * indexes name every message: then only a skim tells the truth.
 */
export async function indexRuns(
  { section, end }: { section: SummarySection; end: McapEnd },
  context: ReadContext,
  onRun: NonNullable<SurveyOptions["onRun"]>,
): Promise<Survey | undefined> {
  const { chunks } = section;
  if (!chunks?.inOrder().every(isTelling)) return undefined;
  const survey = await indexMcap(section, end, context);
  if (!survey || !(await holdsOnlyIndexed(section, end, context))) return undefined;
  if (!chunks.inOrder().every(({ channelIds }) => channelIds.every((id) => survey.channels.has(id)))) return undefined;
  survey.chunkCount = 0;
  for (const chunk of chunks.inOrder()) {
    addChunk(survey, chunk.uncompressedBytes, { sizeBytes: context.source.sizeBytes, limits: context.limits });
    if (chunk.uncompressedBytes > 0) onRun(toRun(chunk), chunk.channelIds, survey);
  }
  return survey;
}

/** A chunk with content must name its channels and a valid span, and its sizes must agree. */
function isTelling({ startNs, endNs, channelIds, chunkBytes, storedBytes, uncompressedBytes }: ChunkIndex): boolean {
  if (storedBytes + recordHeadBytes > chunkBytes) return false;
  return uncompressedBytes === 0 || (channelIds.length > 0 && startNs <= endNs && endNs < 2n ** 63n);
}

/** Whether nothing but schemas, channels and the like stands between what is indexed: a message may hide there. */
async function holdsOnlyIndexed(section: SummarySection, end: McapEnd, context: ReadContext): Promise<boolean> {
  const { starts, ends } = edgesOf(section);
  const reader = openWindowReader(context);
  let walkedBytes = 0;
  for (let index = 0; index <= starts.length; index += 1) {
    const gapEnd = starts[index] ?? end.summaryStart;
    let offset = ends[index - 1] ?? magic.byteLength;
    walkedBytes += gapEnd - offset;
    if (walkedBytes > maxWalkedBytes) return false;
    while (offset < gapEnd) {
      const head = parseRecordHead(await reader.fetch(offset, recordHeadBytes), offset, context.source.sizeBytes);
      if (head.end > gapEnd || mustBeIndexed.has(head.opcode)) return false;
      offset = head.end;
    }
  }
  return true;
}

/** Beyond it a skim is as cheap. */
const maxWalkedBytes = 1024 * 1024;
const mustBeIndexed: ReadonlySet<number> = new Set([
  opcodes.message,
  opcodes.chunk,
  opcodes.attachment,
  opcodes.metadata,
]);

function toRun(index: ChunkIndex): MessageRun {
  const { offset, lengthBytes, startNs, endNs, chunkBytes, storedBytes, uncompressedBytes, compression } = index;
  const dataOffset = offset + chunkBytes - storedBytes;
  return {
    chunk: { offset, dataOffset, storedBytes, uncompressedBytes, compression, crc: 0 },
    indexed: { chunkBytes, indexesBytes: lengthBytes - chunkBytes },
    offset,
    lengthBytes: uncompressedBytes,
    startNs,
    endNs,
  };
}
