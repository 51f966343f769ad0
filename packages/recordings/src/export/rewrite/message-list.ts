import { copyColumns } from "../../columns.ts";
import type { ScannedMessage } from "../../mcap/scan-messages.ts";
import type { FragmentBuilder } from "./fragment-builder.ts";

/** Messages of one run, in order of log time and equal times as in the file. */
export interface Selected {
  readonly count: number;
  /** Copies the messages from one up to another. */
  copyTo(builder: FragmentBuilder, from: number, to: number): void;
  /** Of one message's record. */
  sizeOf(index: number): number;
}

/** Collects the messages as they stand in `bytes`. */
export interface MessageList {
  /** `channelId`: in the written file. */
  add(message: ScannedMessage, channelId: number): void;
  toSelected(): Selected;
}

export function createMessageList(bytes: Uint8Array): MessageList {
  let columns = createColumns(256);
  let count = 0;
  let [lastHigh, lastLow] = [0, 0];
  let isInOrder = true;

  const add = ({ start, end, timeHigh, timeLow }: ScannedMessage, channelId: number): void => {
    if (count === columns.starts.length) columns = copyColumns(columns, createColumns(4 * count));
    columns.starts[count] = start;
    columns.ends[count] = end;
    columns.timeHighs[count] = timeHigh;
    columns.timeLows[count] = timeLow;
    columns.channelIds[count] = channelId;
    count += 1;
    if (timeHigh < lastHigh || (timeHigh === lastHigh && timeLow < lastLow)) isInOrder = false;
    [lastHigh, lastLow] = [timeHigh, timeLow];
  };
  const toSelected = (): Selected => {
    const { starts, ends } = columns;
    const order = isInOrder ? undefined : sortByTime(columns, count);
    const rowOf = (index: number): number => (order ? order[index]! : index);
    const sizeOf = (index: number): number => ends[rowOf(index)]! - starts[rowOf(index)]!;
    return {
      count,
      sizeOf,
      copyTo(builder, from, to) {
        let sizeBytes = 0;
        for (let index = from; index < to; index += 1) sizeBytes += sizeOf(index);
        builder.reserve(sizeBytes);
        for (let index = from; index < to; ) index = copyNeighbours(builder, index, to);
      },
    };

    /** Records that stand side by side in the run are copied at once. Answers the index behind them. */
    function copyNeighbours(builder: FragmentBuilder, first: number, to: number): number {
      const start = starts[rowOf(first)]!;
      let end = ends[rowOf(first)]!;
      let next = first + 1;
      for (; next < to && starts[rowOf(next)] === end; next += 1) end = ends[rowOf(next)]!;
      const shift = builder.addBytes(bytes, start, end) - start;
      for (let index = first; index < next; index += 1) {
        builder.mark(starts[rowOf(index)]! + shift, columns.channelIds[rowOf(index)]!);
      }
      return next;
    }
  };
  return { add, toSelected };
}

type Columns = ReturnType<typeof createColumns>;

function createColumns(room: number) {
  return {
    starts: new Uint32Array(room),
    ends: new Uint32Array(room),
    timeHighs: new Uint32Array(room),
    timeLows: new Uint32Array(room),
    channelIds: new Uint16Array(room),
  };
}

/** Rows by time. Equal times stay as they are. */
function sortByTime({ timeHighs, timeLows }: Columns, count: number): Uint32Array {
  return Uint32Array.from({ length: count }, (_, row) => row).sort(
    (a, b) => timeHighs[a]! - timeHighs[b]! || timeLows[a]! - timeLows[b]! || a - b,
  );
}
