import type { api, Input, Topic } from "@downlink/protocol";
import type { Complete } from "../../core/complete.ts";

export type ListQuery = Input<(typeof api.topics)["list"]>;

/** One topic in one version, of any number of recordings. */
export interface TopicRow {
  readonly topic: string;
  readonly version: string;
  readonly messageEncoding: string;
  readonly schemaName: string;
  readonly schemaEncoding: string;
  readonly schemaSha256: string;
}

export function toTopic(row: TopicRow, schema?: string): Complete<Topic> {
  return {
    topic: row.topic,
    encoding: row.messageEncoding,
    schemaName: row.schemaName,
    schemaEncoding: row.schemaEncoding,
    version: row.version,
    schema,
  };
}
