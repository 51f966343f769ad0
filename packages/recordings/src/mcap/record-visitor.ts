import { RecordingError } from "../faults/reasons.ts";
import type { Beginning } from "../reading/begun-chunk.ts";
import { type FieldCursor, openCursor, readU32 } from "../reading/field-cursor.ts";
import { addChannel, addMetadata, addSchema, countMessages } from "../survey/survey.ts";
import { type Trust, trusts } from "../survey/trust.ts";
import type { Verifying } from "../verified/verifying.ts";
import { magic, opcodes } from "./opcodes.ts";
import { openRecord, type RecordHead } from "./record-head.ts";
import { readChannel, readHeader, readMetadata, readSchema } from "./records.ts";
import { endOfRecord } from "./stored-chunk.ts";
import { createSummaryClaims, type SummaryClaims } from "./summary-claims.ts";
import { leaveOut } from "./survey-mcap.ts";
import { verifyAttachment } from "./verify-attachment.ts";
import { type ChunkVerifier, createChunkVerifier } from "./verify-chunk.ts";
import { LooseVerifier } from "./verify-loose.ts";
import { isLeftOut, type McapChunk, readId } from "./walk-mcap.ts";

/** Reads and checks the records of a file one after another, whatever they say of each other. */
export class RecordVisitor {
  readonly #verifying: Verifying;
  readonly #footerOffset: number;
  readonly #chunks: ChunkVerifier;
  readonly #loose: LooseVerifier;
  readonly #claims: SummaryClaims;
  /** Whether the end of the data was seen. The records behind it repeat what the data say. If data come again, it was not the end. */
  #isBehindData = false;
  #lastOpcode = 0;
  /** Whether the records come from behind a place that makes no sense: they may be what is left of a chunk. */
  #areLeft = false;
  #searchFrom: number = magic.byteLength;
  #unproven: McapChunk | undefined;

  constructor(verifying: Verifying, footerOffset: number) {
    this.#verifying = verifying;
    this.#footerOffset = footerOffset;
    this.#chunks = createChunkVerifier(verifying, footerOffset);
    this.#loose = new LooseVerifier(verifying);
    this.#claims = createSummaryClaims(verifying);
  }

  /**
   * From where on a chunk may stand that the last record covers, because bytes of that record are missing: behind its head, or, if it is a
   * chunk that was read, behind its content.
   */
  get searchFrom(): number {
    return this.#searchFrom;
  }

  /** The chunk that ends at `searchFrom`, if no checksum proves it: its last message may cover another chunk as well. */
  get unproven(): McapChunk | undefined {
    return this.#unproven;
  }

  /** The records outside of chunks that come next stand behind a place that makes no sense. */
  expectLeft(): void {
    this.#areLeft = true;
  }

  /** Whether the last record stood behind the end of the data, and is none that should stand before it. */
  get isInSummary(): boolean {
    return this.#isBehindData && !isData.has(this.#lastOpcode);
  }

  /** Answers where the next record begins. It is a promise if there is something to wait for. */
  visit(head: RecordHead): number | Promise<number> {
    const { opcode, end } = head;
    if (end > this.#verifying.coveredEnd) return this.#leaveCovered(head);
    this.#lastOpcode = opcode;
    if (opcode <= opcodes.dataEnd) this.#startSearchAt(head.contentOffset, undefined);
    if (isData.has(opcode)) this.#isBehindData = false;
    if (end > this.#footerOffset) throw tooLong(head);
    if (opcode === opcodes.message) return this.#loose.add(head) ?? end;
    if (opcode > opcodes.dataEnd || isIndex.has(opcode)) return end;
    return this.#read(head);
  }

  /** A record that covers others ends in the middle of one: that one is none, and what stands behind the end is sound. */
  async #leaveCovered(head: RecordHead): Promise<number> {
    const { coveredEnd, damage } = this.#verifying;
    this.#verifying.coveredEnd = Number.POSITIVE_INFINITY;
    if (coveredEnd <= head.offset) return this.visit(head);
    await this.#loose.end();
    const text = `the record at byte ${head.offset} reaches beyond the one that covers it`;
    damage.addGap({ offset: head.offset, end: coveredEnd, reason: { code: "BadRecord", text } });
    return coveredEnd;
  }

  /** Reads the loose messages that were gathered last. */
  endMessages(): Promise<void> {
    return this.#loose.end();
  }

  /** Adds the beginning of a chunk that is not whole. Answers false if it contradicts what is known of the file. */
  async addBegun(beginning: Beginning<McapChunk>): Promise<boolean> {
    await this.#loose.end();
    return this.#chunks.addBegun(beginning);
  }

  compareSummary(): void {
    this.#claims.compare(countMessages(this.#verifying.survey));
  }

  async #read(head: RecordHead): Promise<number> {
    switch (head.opcode) {
      case opcodes.chunk:
        await this.#loose.end();
        this.#claims.foundChunk(head.offset);
        return this.#verifyChunk(head);
      case opcodes.schema:
      case opcodes.channel:
        return this.#readDefinition(head);
      case opcodes.header:
      case opcodes.metadata:
        return readDescription(head, this.#verifying);
      case opcodes.attachment:
        // It may hold a recording, which is none of this file.
        this.#startSearchAt(head.end, undefined);
        return verifyAttachment(head, this.#verifying);
      case opcodes.dataEnd:
        if (!this.#isBehindData) await checkData(head, this.#verifying);
        this.#isBehindData = true;
        return head.end;
      case opcodes.statistics:
      case opcodes.chunkIndex:
        await this.#claims.read(head);
        return head.end;
      case opcodes.footer:
        throw new RecordingError("BadFooter", `a footer stands at byte ${head.offset}, before the file's end`);
      default:
        return head.end;
    }
  }

  #trust(): Trust {
    if (this.#isBehindData) return trusts.repeated;
    return this.#areLeft ? trusts.refuted : trusts.unchecked;
  }

  async #verifyChunk(given: RecordHead): Promise<number> {
    this.#areLeft = false;
    const { head, end, chunk } = await this.#chunks.verify(given);
    this.#startSearchAt(head.end, chunk.crc === 0 ? chunk : undefined);
    return end;
  }

  #startSearchAt(offset: number, unproven: McapChunk | undefined): void {
    this.#searchFrom = offset;
    this.#unproven = unproven;
  }

  /** A damaged definition among those that the summary repeats does not make any message unreadable. */
  async #readDefinition(head: RecordHead): Promise<number> {
    const { reader, context, damage, survey, isSalvage } = this.#verifying;
    if (isLeftOut(head, context)) return leaveOutRecord(head, this.#verifying);
    const cursor = await openRecord(head, reader, context);
    if (isSalvage) survey.trust = this.#trust();
    try {
      if (head.opcode === opcodes.channel) addChannel(survey, readChannel(cursor), context.limits);
      else if (!addPlacedSchema(cursor, head, this.#verifying)) return head.end;
      return await endOfRecord(head, head.contentOffset + cursor.position, this.#verifying);
    } catch (error) {
      if (!(error instanceof RecordingError) || error.reason.code === "TooManyChannels") throw error;
      if (!this.#isBehindData) throw error;
      damage.addSummary(head.offset, error.reason);
      return head.end;
    }
  }
}

const isData: ReadonlySet<number> = new Set([opcodes.chunk, opcodes.message]);
const isIndex: ReadonlySet<number> = new Set([
  opcodes.messageIndex,
  opcodes.attachmentIndex,
  opcodes.metadataIndex,
  opcodes.summaryOffset,
]);

function tooLong({ offset }: RecordHead): RecordingError {
  return new RecordingError("LengthBeyondFile", `the record at byte ${offset} is longer than the rest of the file`);
}

/** Notes a schema and where its data stand. Answers false if the record is no schema. spec: MCAP "Schema": 0 is no id. */
function addPlacedSchema(cursor: FieldCursor, { contentOffset }: RecordHead, verifying: Verifying): boolean {
  const { survey, context, schemaPlaces } = verifying;
  const schema = readSchema(cursor);
  if (schema.id === 0) return false;
  const { byteLength } = schema.data;
  addSchema(survey, schema, context.limits);
  const stored = survey.schemas.get(schema.id);
  // A salvage may know something else, which is trusted more.
  if (stored && !schemaPlaces.has(stored) && Buffer.compare(stored.data, schema.data) === 0)
    schemaPlaces.set(stored, [contentOffset + cursor.position - byteLength, byteLength]);
  return true;
}

async function leaveOutRecord(head: RecordHead, { survey, reader }: Verifying): Promise<number> {
  leaveOut(survey, { opcode: head.opcode, id: await readId(head, reader) });
  return head.end;
}

/** Reads what the file says of the whole recording: its header, or a metadata record. */
async function readDescription(head: RecordHead, verifying: Verifying): Promise<number> {
  const { reader, context, survey } = verifying;
  if (isLeftOut(head, context)) return leaveOutRecord(head, verifying);
  const cursor = await openRecord(head, reader, context);
  if (head.opcode === opcodes.header) Object.assign(survey, readHeader(cursor));
  else addMetadata(survey, readMetadata(cursor), context.limits);
  return endOfRecord(head, head.contentOffset + cursor.position, verifying);
}

/** Chunks have checksums of their own. The checksum of the data section decides if those do not cover every message. */
async function checkData(
  head: RecordHead,
  { reader, survey, damage, isSalvage, checksumUpTo }: Verifying,
): Promise<void> {
  const place = `the record at byte ${head.offset}`;
  const expected = readU32(openCursor(await reader.fetch(head.contentOffset, Math.min(4, head.contentBytes)), place));
  if (expected === 0 || (await checksumUpTo(head.offset)) === expected) return;
  const text = "the messages fail the checksum of the data section; the file is damaged somewhere before it";
  if (survey.hasUncheckedMessages && !isSalvage) throw new RecordingError("BadRecord", text);
  damage.addChecksum(head.offset, { code: "BadRecord", text });
}
