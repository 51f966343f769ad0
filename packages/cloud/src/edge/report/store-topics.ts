import type { EdgeRecordingItem, EdgeTopic } from "@downlink/protocol";
import { toJson } from "../../db/insert-rows.ts";
import type { Transaction } from "../../db/transaction.ts";
import type { Place } from "./find-place.ts";

/** An item, and the id of the recording that it becomes. */
export interface NamedItem {
  readonly item: EdgeRecordingItem;
  readonly id: string;
  readonly place: Place;
}

/**
 * Files of one robot have the same topics: fields that do not differ are sent to Postgres once for each report, which saves most of its
 * parsing.
 */
export async function storeTopics(tx: Transaction, named: readonly NamedItem[]): Promise<void> {
  const kinds = new Map<string, ReturnType<typeof kindOf>>();
  const rows = named.flatMap(({ item, id }) =>
    item.topics.map((topic) => {
      const key = `${topic.topic}\0${topic.version}\0${topic.encoding}\0${topic.schemaName}\0${topic.schemaEncoding}\0${topic.schemaSha256}`;
      const kind = kinds.get(key) ?? kindOf(topic, kinds.size);
      kinds.set(key, kind);
      return { id, kind: kind.number, n: topic.messageCount, bytes: topic.bytes, start: topic.start, end: topic.end };
    }),
  );
  if (rows.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO "RecordingTopic" ("recordingId", topic, version, "messageEncoding", "schemaName", "schemaEncoding", "schemaSha256",
      "messageCount", bytes, "startNs", "endNs")
    SELECT r.id, k.topic, k.version, k.encoding, k."schemaName", k."schemaEncoding", k."schemaSha256", r.n, r.bytes, r.start, r.end
    FROM json_to_recordset(${toJson(rows)}::json) AS r(id text, kind int, n bigint, bytes bigint, start bigint, "end" bigint)
    JOIN json_to_recordset(${toJson([...kinds.values()])}::json) AS k(number int, topic text, version text, encoding text,
      "schemaName" text, "schemaEncoding" text, "schemaSha256" text) ON k.number = r.kind`;
}

/** Returns the fields of a topic that several files may share. */
function kindOf({ topic, version, encoding, schemaName, schemaEncoding, schemaSha256 }: EdgeTopic, number: number) {
  return { number, topic, version, encoding, schemaName, schemaEncoding, schemaSha256 };
}
