import { api, type Changes, EVERY_CAPABILITY, type Input, MAX_WAITING_CHANGES } from "@downlink/protocol";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Context, Hono } from "hono";
import { encodeJson } from "../../calls/answers/encode-json.ts";
import { sendJson } from "../../calls/answers/send-json.ts";
import type { Env } from "../../calls/connections/env.ts";
import type { Ctx, Deps } from "../../calls/context/context.ts";
import { authenticate } from "../../calls/serve/authenticate.ts";
import { parseInput } from "../../calls/serve/parse.ts";
import { openContext } from "../../calls/serve/serve.ts";
import { callerId } from "../../core/callers.ts";
import type { Complete } from "../../core/complete.ts";
import { ApiError } from "../../core/errors.ts";
import { seesProject, visibleIn } from "../../organization/projects/find-project.ts";
import { ChangeFeed, type Waiter } from "./change-feed.ts";
import { formatPlace, type News, type Place, parsePlace, readNews } from "./read-changes.ts";

const { list } = api.changes;
const STREAM_MS = 10 * 60_000;
/** Proxies end a stream on which nothing is sent, and access is looked at again. */
const SIGN_MS = 15_000;

interface Waiting {
  readonly feed: ChangeFeed;
  readonly counts: Map<string, number>;
}

/** A caller that waits keeps only its socket and its place; what it may see is determined again for each answer. */
export function changesRoute(app: Hono<Env>, deps: Deps): void {
  const waiting = { feed: new ChangeFeed(deps), counts: new Map<string, number>() };
  app.get(list.path, async (c) => {
    const ctx = (await openContext(c, deps, list.access)) as Ctx;
    const input = (await parseInput(c, list)) as Input<typeof list>;
    await visibleIn(ctx, input.projectId);
    const isStream = c.req.header("accept")?.includes("text/event-stream") === true;
    const since = (isStream ? c.req.header("last-event-id") : undefined) ?? input.since;
    const first = await readNews(ctx, ctx.caller.orgId, since === undefined ? undefined : parsePlace(since));
    const open = async () => ({ ...ctx, caller: await authenticate(deps, c.req.raw.headers, list.access) }) as Ctx;
    const call = { c, ctx, open, projectId: input.projectId, waiting };
    if (isStream) return stream(call, first);
    const answered = seenChanges(ctx, first, input.projectId);
    const isOver = since === undefined || input.waitSeconds === 0 || isNews(answered);
    const answer = isOver ? answered : await waitForNews(call, first.place, input.waitSeconds);
    return sendJson(c, encodeJson(list.response, answer), { mayBeKept: false });
  });
}

interface Call {
  readonly c: Context<Env>;
  readonly ctx: Ctx;
  /** Authenticates the call again. */
  readonly open: () => Promise<Ctx>;
  readonly projectId: string | undefined;
  readonly waiting: Waiting;
}

const isNews = ({ changes, isMissed }: Complete<Changes>) => changes.length > 0 || isMissed;

/** Waits until something is new that the caller sees, then, or until the time is over. */
async function waitForNews(call: Call, place: Place, waitSeconds: number): Promise<Complete<Changes>> {
  const { ctx, open, projectId, waiting } = call;
  using _place = takePlace(call);
  const endsAtMs = performance.now() + waitSeconds * 1000;
  const { promise, resolve } = Promise.withResolvers<News>();
  const waiter: Waiter = {
    orgId: ctx.caller.orgId,
    place,
    offer(news) {
      const isOver = performance.now() >= endsAtMs || ctx.isInterrupted();
      if (isOver || isNews(seenChanges(ctx, news, projectId))) resolve(news);
      return true;
    },
  };
  waiting.feed.add(waiter);
  const news = await promise.finally(() => waiting.feed.remove(waiter));
  const now = await open();
  await visibleIn(now, projectId);
  return seenChanges(now, news, projectId);
}

/** Answers with a stream of server-sent events, until the caller goes, loses its access, or has had it for long. */
function stream(call: Call, first: News): Response {
  const { c, ctx, waiting } = call;
  const { outgoing } = c.env;
  const place = takePlace(call);
  const head = c.body(null, 200, { "content-type": "text/event-stream", "x-accel-buffering": "no" });
  outgoing.writeHead(200, Object.fromEntries(head.headers));
  const endsAtMs = performance.now() + STREAM_MS;
  let signedMs = performance.now();
  let isSending = false;
  const send = async (news: News) => {
    const text = await nextText(call, news).catch(() => undefined); // without access nothing more is sent
    isSending = false;
    signedMs = performance.now();
    if (text === undefined) outgoing.end();
    else if (!outgoing.destroyed) outgoing.write(text);
  };
  const waiter: Waiter = {
    orgId: ctx.caller.orgId,
    place: first.place,
    offer(news) {
      if (performance.now() >= endsAtMs || ctx.isInterrupted()) outgoing.end();
      // Nothing piles up for who does not read: it is read again in a later round.
      if (isSending || outgoing.writableNeedDrain || outgoing.writableEnded) return false;
      isSending = news.rows.length > 0 || news.isMissed || performance.now() - signedMs >= SIGN_MS;
      if (isSending) void send(news);
      return true;
    },
  };
  outgoing.once("close", () => {
    waiting.feed.remove(waiter);
    place[Symbol.dispose]();
  });
  outgoing.write(eventText(seenChanges(ctx, first, call.projectId)));
  waiting.feed.add(waiter);
  c.set("isHeld", true);
  return RESPONSE_ALREADY_SENT;
}

/** Throws if the caller has lost its access. */
async function nextText({ open, projectId }: Call, news: News): Promise<string> {
  const now = await open();
  await visibleIn(now, projectId);
  const seen = seenChanges(now, news, projectId);
  return isNews(seen) ? eventText(seen) : `id: ${formatPlace(news.place)}\n:\n\n`;
}

function eventText(seen: Complete<Changes>): string {
  return `id: ${seen.next}\ndata: ${encodeJson(list.response, seen)}\n\n`;
}

function takePlace({ ctx, waiting: { counts } }: Call): Disposable {
  const id = callerId(ctx.caller);
  const count = counts.get(id) ?? 0;
  if (count >= MAX_WAITING_CHANGES)
    throw new ApiError("RateLimited", `${MAX_WAITING_CHANGES} calls of yours wait for changes already`);
  counts.set(id, count + 1);
  return {
    [Symbol.dispose]() {
      const left = (counts.get(id) ?? 1) - 1;
      if (left > 0) counts.set(id, left);
      else counts.delete(id);
    },
  };
}

/** Returns the changes that the caller may list, each thing once. */
function seenChanges(ctx: Ctx, { rows, place, isMissed }: News, projectId: string | undefined): Complete<Changes> {
  const { capabilities } = ctx.caller;
  const lists = (kind: string) => capabilities.includes(EVERY_CAPABILITY) || capabilities.includes(`${kind}s.list`);
  const seen = rows.filter(
    (row) =>
      lists(row.kind) && seesProject(ctx, row.projectId) && (projectId === undefined || row.projectId === projectId),
  );
  const each = new Map(seen.map((row) => [`${row.kind} ${row.id}`, { ...row, deviceId: row.deviceId ?? undefined }]));
  return { changes: [...each.values()], next: formatPlace(place), isMissed };
}
