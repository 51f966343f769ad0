import { z } from "zod";
import { DeletionReason } from "../shapes/deletion-reason.ts";
import { DeviceSummary, EdgeSiteSummary, SiteSummary, StoredDamage } from "../shapes/summaries.ts";
import { Timestamp } from "../shapes/time.ts";
import { ImportStatus } from "./import-status.ts";
import { TrainingFormat } from "./training-sets.ts";
import type { WebhookEventType } from "./webhooks.ts";

interface WebhookEvent {
  /** When the event is sent, as a sentence without a full stop. */
  readonly summary: string;
  readonly description?: string;
  readonly body: z.ZodObject;
}

const idWith = (prefix: string) => z.string().meta({ example: `${prefix}_01k7x9d3q8w5f2m6n4p0r1s7t9` });

const ofProject = { projectId: idWith("prj") };
const ofWebhook = { projectId: idWith("prj").optional().meta({ description: "Absent: the webhook has no project" }) };

/** The body of an event: what every event has, and the fields of its type. */
function bodyOf(type: WebhookEventType | "ping", fields: z.ZodRawShape): z.ZodObject {
  return z.object({
    type: z.literal(type),
    timestamp: Timestamp.meta({ description: "When the event occurred" }),
    attemptedAt: Timestamp.meta({ description: "When this attempt was made" }),
    deliveryAttemptedAt: Timestamp.meta({ description: "The same as `attemptedAt`" }),
    webhookEventId: idWith("whev").meta({ description: "The same in each attempt, and for each webhook" }),
    eventId: idWith("whev").meta({ description: "The same as `webhookEventId`" }),
    webhookId: idWith("wh").meta({ description: "The webhook that receives the event" }),
    ...fields,
  });
}

const recording = z.object({
  id: idWith("rec"),
  key: z.string().optional(),
  sessionId: z.string().optional(),
  importStatus: ImportStatus,
  path: z.string(),
  device: DeviceSummary.optional(),
  edgeSite: EdgeSiteSummary.optional(),
  site: SiteSummary.optional().meta({ description: "Absent before the recording is imported" }),
});
const session = z.object({ id: idWith("sess"), key: z.string().optional(), device: DeviceSummary });
const device = z.object({ id: idWith("dev") });
const silentDevice = z.object({ id: idWith("dev"), name: z.string(), lastSeenAt: Timestamp });
const event = z.object({ id: idWith("evt") });
const dataset = z.object({ id: idWith("ds"), name: z.string() });
const version = z.object({
  versionNumber: z.int().min(1),
  episodeCount: z.int().min(0),
  addedEpisodeCount: z.int().min(0),
  removedEpisodeCount: z.int().min(0),
});
const trainingSet = z.object({
  id: idWith("ts"),
  datasetId: idWith("ds"),
  versionNumber: z.int().min(1),
  format: TrainingFormat,
  manifestSha256: z.string().optional().meta({ description: "Only where it is ready" }),
});
const failedImport = {
  recording: recording.optional().meta({ description: "Absent: the file that failed made no recording" }),
  requestId: z.string().optional().meta({ description: "The import request" }),
  code: z.string().meta({ description: "For programs", example: "Truncated" }),
  error: z.string().meta({ description: "A sentence, for people", example: "the file ends within a chunk" }),
};
const because = DeletionReason.optional().meta({
  description: "The rule under which the device deleted the file; absent: no rule did",
});
const disabled = z.object({
  id: idWith("wh"),
  name: z.string().meta({ example: "pipeline" }),
  disabledReason: z.string().meta({ example: "the receiver answered 410 Gone" }),
});

/** Describes what a webhook may receive, by the type of the event. spec: Events */
export const webhookEvents: Readonly<Record<WebhookEventType | "ping", WebhookEvent>> = {
  "recording.created": {
    summary: "A recording is known",
    description: "Its data may still be on its device. A direct upload fires `recording.imported`, too.",
    body: bodyOf("recording.created", { ...ofProject, recording }),
  },
  "recording.imported": {
    summary: "The data of a recording can be streamed",
    body: bodyOf("recording.imported", { ...ofProject, recording }),
  },
  "recording.importFailed": {
    summary: "An import ended with an error",
    body: bodyOf("recording.importFailed", { ...ofProject, ...failedImport }),
  },
  "recording.deleted": {
    summary: "A recording was deleted",
    body: bodyOf("recording.deleted", { ...ofProject, recording, because }),
  },
  "recording.damaged": {
    summary: "The stored data of a recording was found damaged",
    description:
      "It cannot be streamed. Its device is asked for the file again; `recording.imported` follows once it is whole.",
    body: bodyOf("recording.damaged", { ...ofProject, recording, damage: StoredDamage }),
  },
  "session.created": {
    summary: "A session was created",
    body: bodyOf("session.created", { ...ofProject, session }),
  },
  "device.created": { summary: "A device was created", body: bodyOf("device.created", { ...ofProject, device }) },
  "device.updated": { summary: "A device was changed", body: bodyOf("device.updated", { ...ofProject, device }) },
  "device.offline": {
    summary: "An agent has been silent for five minutes",
    description: "It is sent once until the agent comes back.",
    body: bodyOf("device.offline", { ...ofProject, device: silentDevice }),
  },
  "event.created": { summary: "An event was created", body: bodyOf("event.created", { ...ofProject, event }) },
  "event.updated": { summary: "An event was changed", body: bodyOf("event.updated", { ...ofProject, event }) },
  "dataset.committed": {
    summary: "A version of a dataset was committed",
    body: bodyOf("dataset.committed", { ...ofProject, dataset, version }),
  },
  "trainingSet.ready": {
    summary: "The files of a training set can be fetched",
    body: bodyOf("trainingSet.ready", { ...ofProject, trainingSet }),
  },
  "trainingSet.failed": {
    summary: "A training set cannot be built",
    body: bodyOf("trainingSet.failed", {
      ...ofProject,
      trainingSet,
      error: z.string().meta({ description: "A sentence, for people" }),
    }),
  },
  "webhook.disabled": {
    summary: "The service disabled another webhook",
    description:
      "Its receiver answered 410, or every attempt failed for five days. The disabled webhook does not receive it.",
    body: bodyOf("webhook.disabled", { ...ofWebhook, webhook: disabled }),
  },
  ping: {
    summary: "A ping was requested",
    description: "It is tried once, and every webhook can receive it.",
    body: bodyOf("ping", { ...ofWebhook, webhook: z.object({ id: idWith("wh") }) }),
  },
};
