import { api, type RecordingTopic, type Topic } from "@downlink/protocol";
import { readArgument, readFilters } from "../flags/read-filters.ts";
import type { Form, List } from "./list.ts";
import { readByOffset } from "./read-pages.ts";

const ofAll = api.topics.list;
const ofRecording = api.recordings.topics;

const filters = { project: "projectId", device: "deviceName", start: "start", end: "end" } as const;

const form: Form<Topic> = {
  things: "topics",
  head: ["ENCODING", "SCHEMA", "TOPIC"],
  cells: ({ encoding, schemaName, topic }) => [encoding || "-", schemaName || "-", topic],
  fields: ["topic", "encoding", "schemaName", "schemaEncoding", "version"],
  encode: (rows) => ofAll.response.encode([...rows]),
};

const recordingForm: Form<RecordingTopic> = {
  things: "topics",
  head: ["MESSAGES", "RATE", "ENCODING", "SCHEMA", "TOPIC"],
  cells: ({ messageCount, meanHz, encoding, schemaName, topic }) => [
    String(messageCount),
    meanHz === undefined ? "-" : `${Number(meanHz.toPrecision(3))} Hz`,
    encoding || "-",
    schemaName || "-",
    topic,
  ],
  fields: [
    ...["topic", "encoding", "schemaName", "schemaEncoding", "version"],
    ...["messageCount", "meanHz", "maxGapNs", "start", "end"],
  ],
  encode: (rows) => ofRecording.response.encode([...rows]),
};

/** Lists the topics of all recordings that the flags select. */
export const listTopics: List<Topic> = async ({ client }, flags, limit) => {
  const query = { ...readFilters(ofAll, flags, filters), sortBy: "topic" } as const;
  return { page: await readByOffset(limit, (part) => client.call(ofAll, { ...query, ...part })), form };
};

/** Lists the topics of one recording, with their messages. */
export function listTopicsOf(recording: string): List<RecordingTopic> {
  return async ({ client }, flags, limit) => {
    const keyOrId = readArgument(ofRecording, "keyOrId", { name: "RECORDING", text: recording });
    const query = { keyOrId, ...readFilters(ofRecording, flags, { project: "projectId" }) };
    const page = await readByOffset(limit, (part) => client.call(ofRecording, { ...query, ...part }));
    return { page, form: recordingForm };
  };
}
