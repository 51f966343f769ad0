import { SourceChangedError } from "../sources/source.ts";
import type { IndexHead } from "./index-layout.ts";
import { IndexUnreadableError, readPages, type VerifiedIndex } from "./read-index.ts";

/**
 * An index of which parts may turn out to be damaged once they are read: these come from one that is made of the same recording, once, so
 * that rot in an index costs time, and not the recording.
 */
export function mendedIndex(index: VerifiedIndex, remake: () => Promise<VerifiedIndex>): VerifiedIndex {
  const { head } = index;
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
    pages: (span) => readPages(head, page, span),
    page,
  };
}

/** A row of a page is named by numbers: they mean the same only where both are cut the same way. */
function cutOf({ pages }: IndexHead): string {
  return JSON.stringify(pages.map(({ startNs, endNs, count }) => [startNs, endNs, count]));
}
