// Object stores send their notifications in forms of their own, to an address that holds the token, because they can set no header. The
// content of such a message is believed as far as its sender is proven: by SNS's signature, by the token of Pub/Sub's service account, else
// by the token of the address. A message that changes nothing is a success all the same, since its sender would only repeat it.

import type { Context, Hono } from "hono";
import { proveConnection } from "../../calls/connections/connections.ts";
import type { Env } from "../../calls/connections/env.ts";
import { countCall } from "../../calls/connections/limit-rates.ts";
import { newGoneSignal } from "../../calls/connections/new-gone-signal.ts";
import type { Deps } from "../../calls/context/context.ts";
import { authenticate, bearerOf } from "../../calls/serve/authenticate.ts";
import { readJsonText } from "../../calls/serve/json-body.ts";
import type { InboxCaller } from "../../core/callers.ts";
import { ApiError, refuse } from "../../core/errors.ts";
import { PublicFetchError } from "../../process/outgoing/allowed-address.ts";
import { readEventGrid, validationCodeOf } from "./event-grid.ts";
import { type NativeMessage, readNative } from "./native-message.ts";
import type { ObjectNotification } from "./object-notification.ts";
import { PubsubTokens, readPubsub } from "./pubsub-push.ts";
import { findNotifiedBucket, receiveNotifications } from "./receive-notifications.ts";
import { readS3Events } from "./s3-events.ts";
import { readSnsMessage, SnsSenders } from "./sns-message.ts";

export const INBOX_PATH = "/endpoints/inbox-notifications";

type Senders = { readonly sns: SnsSenders; readonly pubsub: PubsubTokens };

/** Serves what object stores and their notification services send by themselves. spec: wire contract §2 */
export function inboxRoute(app: Hono<Env>, deps: Deps): void {
  const senders = { sns: new SnsSenders(deps.fetchPublic), pubsub: new PubsubTokens(deps.fetchPublic) };
  app.post(INBOX_PATH, async (c) => {
    const caller = await authenticateInbox(c, deps);
    const message = readNative(await readJsonText(c, { bodySize: "large" }));
    return c.json(await answer(c, deps, { caller, message, senders }));
  });
  // Event Grid asks in this way whether it may send CloudEvents here.
  app.options(INBOX_PATH, async (c) => {
    await authenticateInbox(c, deps);
    const origin = c.req.header("webhook-request-origin");
    if (origin !== undefined) c.header("WebHook-Allowed-Origin", origin);
    return c.body(null, 200);
  });
}

interface Received {
  readonly caller: InboxCaller;
  readonly message: NativeMessage;
  readonly senders: Senders;
}

async function answer(c: Context<Env>, deps: Deps, received: Received): Promise<object> {
  const { caller, message } = received;
  if (message.kind === "eventGrid") {
    const validationResponse = validationCodeOf(message.events);
    if (validationResponse !== undefined) return { validationResponse };
  }
  const bucket = await findNotifiedBucket(deps, caller);
  const turn = { owner: caller.orgId, token: caller.tokenId };
  await receiveNotifications(deps, bucket, {
    notifications: await believe(c, deps, received),
    takeTurn: () => deps.turns.lists.take(turn, () => newGoneSignal(c)),
  });
  return { success: true };
}

/** Returns what the message says of objects, once its sender is proven. */
async function believe(c: Context<Env>, deps: Deps, received: Received): Promise<ObjectNotification[]> {
  const { caller, message, senders } = received;
  switch (message.kind) {
    case "test":
      return [];
    case "s3":
      return readS3Events(message.events);
    case "eventGrid":
      return readEventGrid(message.events);
    case "sns": {
      const { snsTopicArn } = await findSender(deps, caller);
      await awaitProof(senders.sns.prove(message.message, { topicArn: snsTopicArn, nowNs: deps.clock.nowNs() }));
      return readSnsMessage(message.message);
    }
    case "pubsub":
      await awaitProof(provePubsub(c, deps, received));
      return readPubsub(message.push);
  }
}

async function provePubsub(c: Context<Env>, deps: Deps, { caller, senders }: Received): Promise<void> {
  const { pubsubAudience: audience, pubsubServiceAccount: serviceAccount } = await findSender(deps, caller);
  if (audience === null || serviceAccount === null)
    refuse("NotificationRefused", "this token takes no messages of Pub/Sub: it was made without pubsubAudience");
  const token = bearerOf(c.req.header("authorization") ?? "");
  if (token === undefined) refuse("Unauthenticated", "the push of Pub/Sub has no token: switch authentication on");
  const nowMs = Number(deps.clock.nowNs() / 1_000_000n);
  const fault = await senders.pubsub.findFault(token, { audience, serviceAccount }, nowMs);
  if (fault !== undefined) refuse("Unauthenticated", fault);
}

function findSender({ db }: Deps, { tokenId }: InboxCaller) {
  return db.prisma.inboxToken.findUniqueOrThrow({ where: { id: tokenId } });
}

/** The provider's address did not answer: the message comes again. */
async function awaitProof(proving: Promise<void>): Promise<void> {
  try {
    await proving;
  } catch (error) {
    if (!(error instanceof PublicFetchError)) throw error;
    throw new ApiError("Unavailable", `the sender cannot be checked: ${error.message}`, { retryAfterSeconds: 10 });
  }
}

/** The header belongs to Pub/Sub if the address holds the token. */
async function authenticateInbox(c: Context<Env>, deps: Deps): Promise<InboxCaller> {
  const token = c.req.query("token");
  const headers = token === undefined ? c.req.raw.headers : new Headers({ authorization: `Bearer ${token}` });
  const caller = await authenticate(deps, headers, { kind: "inbox" });
  if (caller.kind !== "inbox") throw new Error("authenticate let another caller pass");
  proveConnection(c);
  c.header("Cache-Control", "no-store");
  await countCall(c, deps.rates, caller.tokenId);
  return caller;
}
