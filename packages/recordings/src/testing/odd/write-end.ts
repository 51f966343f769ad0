import { crc32 } from "node:zlib";
import type { Draft, FooterPlaces, SummaryGroup } from "./draft.ts";
import { compareTimes, type Layout, type Pieces } from "./layout.ts";
import {
  attachmentIndexRecord,
  channelRecord,
  chunkIndexRecord,
  footerRecord,
  type IndexedPlace,
  mcapMagic,
  metadataIndexRecord,
  type StatisticsFields,
  schemaRecord,
  statisticsRecord,
  summaryOffsetRecord,
} from "./record-bytes.ts";

/** The summary section, its offsets, the footer and the magic. Spec: MCAP "Summary Section", "Footer". */
export function writeEnd(draft: Draft, pieces: Pieces, layout: Layout): void {
  const { summary } = draft;
  const start = pieces.lengthBytes;
  const parts: Uint8Array[] = [];
  const places: [opcode: number, place: IndexedPlace][] = [];
  let at = start;
  for (const group of summary.groups) {
    const { opcode, records } = recordsOf(group, draft, layout);
    const bytes = Buffer.concat(records);
    if (bytes.byteLength === 0) continue;
    places.push([opcode, { offset: at, lengthBytes: bytes.byteLength }]);
    parts.push(bytes);
    at += bytes.byteLength;
  }
  const named = summary.hasOffsets ? summary.offsets(places) : [];
  const offsets = named.map(([opcode, place]) => summaryOffsetRecord(opcode, place));
  const section = Buffer.concat([...parts, ...offsets]);
  const hasSection = section.byteLength > 0;
  const truth = { summaryStart: hasSection ? start : 0, summaryOffsetStart: offsets.length > 0 ? at : 0 };
  const written = { section: summary.section(section), footer: summary.footer(truth) };
  const crcs = {
    right: () => crcOf({ start, ...written }, pieces),
    stale: () => crcOf({ start, section, footer: truth }, pieces),
    wrong: () => crcOf({ start, ...written }, pieces) ^ 0x77,
    none: () => 0,
  };
  const crc = crcs[summary.crc]();
  pieces.push(written.section);
  pieces.push(footerRecord({ ...written.footer, crc }));
  pieces.push(mcapMagic);
}

interface Section {
  /** Where it really begins. */
  readonly start: number;
  readonly section: Uint8Array;
  readonly footer: FooterPlaces;
}

/** Spec: MCAP "Footer": it covers everything from where the footer says that the summary begins up to the checksum itself. */
function crcOf({ start, section, footer }: Section, pieces: Pieces): number {
  const foot = footerRecord({ ...footer, crc: 0 }).subarray(0, 25);
  if (footer.summaryStart === start || footer.summaryStart === 0) return crc32(foot, crc32(section));
  return crc32(foot, crc32(Buffer.concat([pieces.join(), section]).subarray(footer.summaryStart)));
}

function recordsOf(
  group: SummaryGroup,
  { summary, schemas, channels }: Draft,
  layout: Layout,
): { opcode: number; records: readonly Uint8Array[] } {
  const indexed = { schemas, channels };
  const makers: Record<SummaryGroup, () => { opcode: number; records: readonly Uint8Array[] }> = {
    schemas: () => ({ opcode: 0x03, records: summary.schemas(schemas).map(schemaRecord) }),
    channels: () => ({ opcode: 0x04, records: summary.channels(channels).map(channelRecord) }),
    statistics: () => ({
      opcode: 0x0b,
      records: summary.statistics([countAll(indexed, layout)]).map(statisticsRecord),
    }),
    chunkIndexes: () => ({ opcode: 0x08, records: summary.chunkIndexes(layout.chunks).map(chunkIndexRecord) }),
    attachmentIndexes: () => ({
      opcode: 0x0a,
      records: layout.attachments.map(({ attachment, place }) =>
        attachmentIndexRecord(attachment, summary.places(place)),
      ),
    }),
    metadataIndexes: () => ({
      opcode: 0x0d,
      records: layout.metadata.map(({ metadata, place }) => metadataIndexRecord(metadata, summary.places(place))),
    }),
  };
  return makers[group]();
}

function countAll(
  { schemas, channels }: Pick<Draft, "schemas" | "channels">,
  { messages: all, attachments, metadata, chunks }: Layout,
): StatisticsFields {
  const messages = all.filter(({ isHidden }) => !isHidden);
  const times = messages.map(({ message }) => message.logTimeNs).sort(compareTimes);
  const counts = new Map<number, number>();
  for (const { message } of messages) counts.set(message.channelId, (counts.get(message.channelId) ?? 0) + 1);
  return {
    messageCount: messages.length,
    schemaCount: schemas.length,
    channelCount: channels.length,
    attachmentCount: attachments.length,
    metadataCount: metadata.length,
    chunkCount: chunks.length,
    startNs: times[0] ?? 0n,
    endNs: times.at(-1) ?? 0n,
    channelCounts: [...counts],
  };
}
