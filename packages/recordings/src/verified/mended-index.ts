import { SourceChangedError } from "../sources/source.ts";
import type { IndexHead } from "./index-layout.ts";
import { IndexUnreadableError, readPages, type VerifiedIndex } from "./read-index.ts";

/**
 * Reads an index, parts of which may turn out to be damaged. Those parts are read from an index that is then made of the same recording,
 * once: a damaged index costs time, and not the recording.
 */
export function mendedIndex(index: VerifiedIndex, remake: () => Promise<VerifiedIndex>): VerifiedIndex {
  const { head, expectPages } = index;
  let remade: Promise<VerifiedIndex> | undefined;
  const orRemade = async <T>(read: (from: VerifiedIndex) => Promise<T>): Promise<T> => {
    try {
      return await read(index);
    } catch (error) {
      if (!(error instanceof IndexUnreadableError)) throw error;
      remade ??= remake();
      const other = await remade;
      if (other.head.sha256 !== head.sha256)
        throw new SourceChangedError("the recording is not what it was when it was verified");
      if (cutOf(other.head) !== cutOf(head)) throw error;
      return read(other);
    }
  };
  const page = (number: number) => orRemade((from) => from.page(number));
  return {
    head,
    channels: () => orRemade((from) => from.channels()),
    schemas: (recording, ids) => orRemade((from) => from.schemas(recording, ids)),
    attachments: () => orRemade((from) => from.attachments()),
    metadata: () => orRemade((from) => from.metadata()),
    damage: () => orRemade((from) => from.damage()),
    pages: (span) => readPages({ head, page, expectPages }, span),
    page,
    expectPages,
  };
}

/**
 * How the pages are cut. A row is named by the numbers of its page and its place there, which mean the same only if both indexes are cut
 * the same way.
 */
function cutOf({ pages }: IndexHead): string {
  return JSON.stringify(pages.map(({ startNs, endNs, count }) => [startNs, endNs, count]));
}
