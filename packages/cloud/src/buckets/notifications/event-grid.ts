import { z } from "zod";
import type { ObjectNotification } from "./object-notification.ts";

const EventGridEvent = z.looseObject({
  id: z.string().min(1).max(1024),
  eventType: z.string(),
  topic: z.string(),
  subject: z.string(),
  data: z
    .looseObject({ validationCode: z.string().optional() })
    .transform(({ validationCode }) => ({ validationCode })),
});

/** The same event in the form of CloudEvents, which Event Grid sends if it is told to. */
const CloudEvent = z
  .looseObject({
    specversion: z.literal("1.0"),
    id: z.string().min(1).max(1024),
    type: z.string(),
    source: z.string(),
    subject: z.string(),
  })
  .transform(({ type, source, ...event }) => ({
    ...event,
    eventType: type,
    topic: source,
    data: { validationCode: undefined },
  }));

const OneEvent = z.union([EventGridEvent, CloudEvent]);

/** Events of Azure Event Grid about blobs, or the question whether this address wants them. */
export const EventGridEvents = z.union([z.array(OneEvent).min(1), OneEvent.transform((event) => [event])]);
export type EventGridEvents = z.infer<typeof EventGridEvents>;

/** Returns the code to answer if this is the handshake of a new subscription. */
export function validationCodeOf(events: EventGridEvents): string | undefined {
  const event = events.find(({ eventType }) => eventType === "Microsoft.EventGrid.SubscriptionValidationEvent");
  return event?.data.validationCode;
}

/** Returns what the events say of blobs that came or went; other events say nothing. */
export function readEventGrid(events: EventGridEvents): ObjectNotification[] {
  return events.flatMap(({ id, eventType, topic, subject }) => {
    const azureStorageAccountName = /\/storageAccounts\/([^/]+)$/i.exec(topic)?.[1];
    const [, bucketName, fileName] = /^\/blobServices\/default\/containers\/([^/]+)\/blobs\/(.+)$/s.exec(subject) ?? [];
    const isOfBlob = /^Microsoft\.Storage\.Blob(Created|Deleted|Renamed)$/.test(eventType);
    if (!isOfBlob || !azureStorageAccountName || !bucketName || !fileName) return [];
    const messageId = `event grid ${id}`;
    return [{ messageId, providers: ["azure"], azureStorageAccountName, bucketName, fileName }];
  });
}
