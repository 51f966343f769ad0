import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiError } from "../../core/errors.ts";
import { readEventGrid, validationCodeOf } from "./event-grid.ts";
import { type NativeMessage, readNative } from "./native-message.ts";
import { readS3Events } from "./s3-events.ts";

const read = (body: unknown) => readNative(JSON.stringify(body));
const of = <K extends NativeMessage["kind"]>(kind: K, message: NativeMessage) => {
  assert.equal(message.kind, kind);
  return message as Extract<NativeMessage, { kind: K }>;
};
const event = (key: string, eventName = "ObjectCreated:Put", eventSource = "aws:s3") => ({
  eventVersion: "2.1",
  eventSource,
  eventName,
  eventTime: "2026-01-01T00:00:00Z",
  s3: { bucket: { name: "b" }, object: { key, eTag: "e", sequencer: "1" } },
});
const namesIn = (...events: object[]) =>
  readS3Events(of("s3", read({ Records: events })).events).map(({ fileName }) => fileName);

test("the keys of S3 events are decoded as form values; what is not encoded stays", () => {
  const names = ["a b.mcap", "a+b", "a%2Fb", "ü/日本/\u{1f916}", "100%", "%", "a&b=c", `${"x".repeat(1024)}`];
  for (const name of names) assert.deepEqual(namesIn(event(encodeURIComponent(name).replaceAll("%20", "+"))), [name]);
  assert.deepEqual(namesIn(event("100%"), event("%ZZ+x")), ["100%", "%ZZ+x"]);
});

test("a key of Ceph may be encoded or not, so both names are read where they differ", () => {
  const names = (key: string) => namesIn(event(key, "ObjectCreated:Put", "ceph:s3"));
  assert.deepEqual(names("a+b %2F/ü.mcap"), ["a b //ü.mcap", "a+b %2F/ü.mcap"]);
  assert.deepEqual(names("a%2Bb"), ["a+b", "a%2Bb"]);
  assert.deepEqual(names("100% + 1"), ["100% + 1"]);
  assert.deepEqual(names("plain.mcap"), ["plain.mcap"]);
});

test("events of S3, MinIO and Ceph about objects that came, went or are back are read, and no others", () => {
  const changes = [
    "ObjectCreated:Put",
    "s3:ObjectCreated:Copy",
    "ObjectRemoved:DeleteMarkerCreated",
    "ObjectRestore:Completed",
  ];
  const others = ["ObjectTagging:Put", "s3:ObjectAcl:Put", "ReducedRedundancyLostObject", ""];
  assert.deepEqual(namesIn(...[...changes, ...others].map((name) => event(name, name))), changes);
});

test("the same event has the same id, and every other one another", () => {
  const ids = [
    event("a"),
    event("a"),
    event("b"),
    event("a", "ObjectRemoved:Delete"),
    { ...event("a"), eventId: "7" },
  ].map((one) => readS3Events(of("s3", read({ Records: [one] })).events)[0]!.messageId);
  assert.equal(ids[0], ids[1]);
  assert.equal(new Set(ids).size, 4);
});

test("the message with which S3 tests its settings says nothing of objects", () => {
  of("test", read({ Service: "Amazon S3", Event: "s3:TestEvent", Bucket: "b" }));
});

const topic = "/subscriptions/1/resourceGroups/g/providers/Microsoft.Storage/storageAccounts/robots";
const subject = "/blobServices/default/containers/c/blobs/a/b +%2F.mcap";
const gridEvent = { id: "1", eventType: "Microsoft.Storage.BlobCreated", topic, subject, data: { url: "u" } };
const cloudEvent = {
  specversion: "1.0",
  id: "1",
  type: "Microsoft.Storage.BlobDeleted",
  source: topic,
  subject,
  data: {},
};

test("events of Event Grid are read in its own form and as CloudEvents, alone or many", () => {
  for (const body of [[gridEvent], [cloudEvent], cloudEvent, gridEvent])
    assert.deepEqual(readEventGrid(of("eventGrid", read(body)).events), [
      {
        messageId: "event grid 1",
        providers: ["azure"],
        azureStorageAccountName: "robots",
        bucketName: "c",
        fileName: "a/b +%2F.mcap",
      },
    ]);
  const others = [
    { ...gridEvent, eventType: "Microsoft.Storage.BlobTierChanged" },
    { ...gridEvent, topic: "/x" },
  ];
  assert.deepEqual(readEventGrid(of("eventGrid", read(others)).events), []);
});

test("Event Grid's handshake has a code", () => {
  const eventType = "Microsoft.EventGrid.SubscriptionValidationEvent";
  const body = [{ id: "1", topic: "/x", subject: "", data: { validationCode: "512d38b6" }, eventType }];
  assert.equal(validationCodeOf(of("eventGrid", read(body)).events), "512d38b6");
  assert.equal(validationCodeOf(of("eventGrid", read([gridEvent])).events), undefined);
});

test("what has none of the forms is refused in a sentence", () => {
  for (const [body, sentence] of [
    [{}, /^this is no notification of SNS, of an S3 bucket, of Pub\/Sub or of Event Grid; /],
    [7, /^this is no notification/],
    [null, /^this is no notification/],
    ["text", /^this is no notification/],
    [[], /^this is no notification of Event Grid/],
    [
      { Records: [{ eventName: "ObjectCreated:Put" }] },
      /^this is no notification of an S3 bucket: Records\.0\.s3 is required/,
    ],
    [{ TopicArn: "x" }, /^this is no notification of SNS: /],
    [{ subscription: "s", message: {} }, /^this is no notification of Pub\/Sub: /],
  ] as const)
    assert.throws(
      () => read(body),
      (error: ApiError) => error.status === 400 && sentence.test(error.message) && !error.message.includes("undefined"),
      JSON.stringify(body),
    );
  assert.throws(
    () => readNative("{"),
    (error: ApiError) => error.code === "MalformedJson",
  );
});
