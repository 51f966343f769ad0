import { explainIssue } from "@downlink/protocol";
import type { z } from "zod";
import { ApiError } from "../../core/errors.ts";
import { EventGridEvents } from "./event-grid.ts";
import { PubsubPush } from "./pubsub-push.ts";
import { S3Events, S3TestEvent } from "./s3-events.ts";
import { SnsMessage } from "./sns-signature.ts";

/** A message in the form of one of the providers. */
export type NativeMessage =
  | { readonly kind: "sns"; readonly message: SnsMessage }
  | { readonly kind: "s3"; readonly events: S3Events }
  | { readonly kind: "test" }
  | { readonly kind: "pubsub"; readonly push: PubsubPush }
  | { readonly kind: "eventGrid"; readonly events: EventGridEvents };

/** Reads a message by its form, whatever media type it comes with. Throws 400 if it has none of the forms. */
export function readNative(text: string): NativeMessage {
  const body = parse(text);
  const isIt = (field: string) => typeof body === "object" && body !== null && field in body;
  if (isIt("TopicArn")) return { kind: "sns", message: read(SnsMessage, body, "of SNS") };
  if (isIt("Records")) return { kind: "s3", events: read(S3Events, body, "of an S3 bucket") };
  if (S3TestEvent.safeParse(body).success) return { kind: "test" };
  if (isIt("subscription")) return { kind: "pubsub", push: read(PubsubPush, body, "of Pub/Sub") };
  if (Array.isArray(body) || isIt("specversion") || isIt("eventType"))
    return { kind: "eventGrid", events: read(EventGridEvents, body, "of Event Grid") };
  throw new ApiError(
    "InvalidRequest",
    "this is no notification of SNS, of an S3 bucket, of Pub/Sub or of Event Grid; any other sender calls POST /v1/site-bucket-notifications",
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ApiError("MalformedJson", `the body is not JSON: ${(error as SyntaxError).message}`);
  }
}

function read<S extends z.ZodType>(schema: S, body: unknown, whose: string): z.infer<S> {
  const parsed = schema.safeParse(body, { error: explainIssue });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const said = [issue!.path.join("."), issue!.message].filter(Boolean).join(" ");
  throw new ApiError("InvalidRequest", `this is no notification ${whose}: ${said}`);
}
