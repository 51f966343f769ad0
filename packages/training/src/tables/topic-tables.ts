import { createHash } from "node:crypto";
import { describeType, type StructType } from "@downlink/messages/describe-type";
import type { Channel, Message } from "@downlink/messages/read-mcap";
import { DecodeError, type Value } from "@downlink/messages/value";
import { decodeTopics, explainUnreadable } from "../align/decode-topics.ts";
import type { FileSink } from "../parquet/parquet-file.ts";
import { Table, type TableLimits } from "./table.ts";

/** So many files are open at a time; the one that got no row for longest ends before another begins. */
const MOST_OPEN = 16;

/** The tables of some topics: one for each schema that a topic has. */
export class TopicTables {
  readonly #open: (path: string) => FileSink;
  readonly #limits: TableLimits;
  readonly #decode = decodeTopics();
  readonly #byChannel = new Map<Channel, Table>();
  /** By topic, then by schema. */
  readonly #topics = new Map<string, Map<string, Table>>();
  /** Those with rows or an open file; the one that got a row last is the last. */
  readonly #busy = new Set<Table>();

  constructor(open: (path: string) => FileSink, limits: TableLimits) {
    this.#open = open;
    this.#limits = limits;
  }

  /** Adds a message. Returns why it cannot be read, if it cannot, as the end of a sentence. Throws TrainingError for a schema that cannot. */
  async add(message: Message, episodeId: string): Promise<string | undefined> {
    const { channel } = message;
    const { value, reason } = this.#read(message);
    const table = this.#byChannel.get(channel) ?? this.#find(channel);
    this.#byChannel.set(channel, table);
    if (!this.#busy.delete(table) && this.#busy.size === MOST_OPEN) await this.#endFirst();
    this.#busy.add(table);
    await table.add(message, value, episodeId);
    await this.#bound();
    return reason;
  }

  /** Writes the largest of what waits where all of it takes too much memory. */
  async #bound(): Promise<void> {
    let [heldBytes, largest]: [number, Table | undefined] = [0, undefined];
    for (const table of this.#busy) {
      heldBytes += table.heldBytes;
      if (table.heldBytes > (largest?.heldBytes ?? 0)) largest = table;
    }
    if (heldBytes > this.#limits.heldBytes) await largest!.flush();
  }

  async #endFirst(): Promise<void> {
    const [first] = this.#busy as Iterable<Table>;
    this.#busy.delete(first!);
    await first!.close();
  }

  #read(message: Message): { value?: Value; reason?: string } {
    try {
      return { value: this.#decode(message)() };
    } catch (error) {
      if (error instanceof DecodeError) return { reason: error.message.replace(/\.$/, "") };
      throw error;
    }
  }

  #find(channel: Channel): Table {
    const { topic, messageEncoding, schemaEncoding, schemaName, schema } = channel;
    const tables = this.#topics.get(topic) ?? new Map<string, Table>();
    this.#topics.set(topic, tables);
    const key = JSON.stringify([messageEncoding, schemaEncoding, schemaName, sha256(schema)]);
    const number = tables.size;
    const pathOf = (part: number) => `${folderOf(topic)}/${number}-${String(part).padStart(3, "0")}.parquet`;
    const about = { topic, messageEncoding, schemaEncoding, schemaName };
    const table =
      tables.get(key) ?? new Table({ pathOf, open: this.#open, type: typeOf(channel), about, limits: this.#limits });
    tables.set(key, table);
    return table;
  }

  /** Describes the first table of a topic, after the end. Undefined: the topic has no message. */
  describe(topic: string): { readonly channel: Channel; readonly fields: StructType } | undefined {
    const [first] = this.#byChannel.entries().filter(([channel]) => channel.topic === topic);
    return first && { channel: first[0], fields: first[1].fields };
  }

  async close(): Promise<void> {
    for (const tables of this.#topics.values()) for (const table of tables.values()) await table.close();
  }
}

function typeOf(channel: Channel): StructType | undefined {
  try {
    return describeType(channel);
  } catch (error) {
    throw explainUnreadable(channel, error);
  }
}

function sha256(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

const MOST_LETTERS = 100;

/** Returns the folder of a topic. Two topics have different ones, even on a disk that knows no capitals. */
export function folderOf(topic: string): string {
  const words = topic.replaceAll(/[^\w-]+/g, "_").replace(/^_+|_+$/g, "");
  return `topics/${words.slice(0, MOST_LETTERS) || "topic"}-${sha256(topic).slice(0, 8)}`;
}
