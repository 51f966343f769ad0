import {
  type Access,
  type Contract,
  isAdministrative,
  isCursorPaged,
  isPaged,
  mayBeKept,
  NEXT_CURSOR_HEADER,
  type Operation,
} from "@downlink/protocol";
import type { Context, Hono } from "hono";
import { noteOrWarn } from "../../recovery/note-entries.ts";
import { encodeJson } from "../answers/encode-json.ts";
import { nameTotal } from "../answers/name-total.ts";
import { sendJson } from "../answers/send-json.ts";
import { isBatches, streamList } from "../answers/stream-list.ts";
import { proveConnection } from "../connections/connections.ts";
import type { Env } from "../connections/env.ts";
import { callerToken, listTurns } from "../connections/in-turn.ts";
import { addressOf, countCall } from "../connections/limit-rates.ts";
import { hasGone, newGoneSignal } from "../connections/new-gone-signal.ts";
import { type TakeTurn, yieldInSteps } from "../connections/yield-in-steps.ts";
import type { Ctx, Deps } from "../context/context.ts";
import { type BoundContract, chooseAgain } from "./again.ts";
import { answerOnce, makesOne } from "./answer-once.ts";
import { auditedHandler } from "./audited-call.ts";
import { authenticate, isByCookie } from "./authenticate.ts";
import type { AnyHandler } from "./handlers.ts";
import { matchedHandler } from "./if-match.ts";
import { parseInput } from "./parse.ts";
import { requireOwnPage } from "./session-cookie.ts";

/** Binds a resource's operations to its verbs: check the access, parse, call, encode. Everything else is middleware or a plain route. */
export function serve<C extends Contract>(app: Hono<Env>, deps: Deps, bound: BoundContract<C>): void {
  for (const [name, operation] of Object.entries(bound.contract)) {
    const handler = matchedHandler(bound, operation, auditedHandler(bound, name));
    const { method, alsoMethods = [] } = operation;
    const check = bound.checks?.[name] as AnyHandler | undefined;
    const call = { operation, handler, check, mayBeKept: mayBeKept(operation), again: chooseAgain(bound, name) };
    const methods = [method, ...alsoMethods].map((one) => one.toUpperCase());
    app.on(methods, honoPath(operation.path), (c) => {
      c.set("path", operation.path);
      return answer(c, deps, call);
    });
  }
}

interface Call {
  readonly operation: Operation;
  readonly handler: AnyHandler;
  readonly check: AnyHandler | undefined;
  readonly again: AnyHandler | undefined;
  /** Answers to reads may be cached, except for tokens and signed links. */
  readonly mayBeKept: boolean;
}

async function answer(c: Context<Env>, deps: Deps, call: Call): Promise<Response> {
  const { operation, handler, check, again, mayBeKept } = call;
  const { response: schema } = operation; // undefined if a success has no body
  const noteChanges = async () => {
    if (operation.audits && isAdministrative(operation.audits)) deps.credentials.forgetAll(); // what a handler forgot may have been read again before the commit
    if (operation.method !== "get" && !isByMachine(operation.access)) await noteOrWarn(deps);
  };
  const ctx = await openContext(c, deps, operation.access);
  const input = await parseInput(c, operation, ctx);
  await check?.(ctx, input);
  const takeTurn = listTurns(c, ctx, operation);
  if (schema && makesOne(operation)) {
    using _turn = await takeTurn({ hasBegun: false });
    const toText = async (answered: Promise<unknown>) => encodeJson(schema, await answered);
    const response = await answerOnce(c, ctx, {
      operation,
      input,
      answer: (inside) => toText(handler(inside, input)),
      again: (inside, madeId) => toText(again && madeId ? again(inside, madeId) : handler(inside, input)),
    });
    await noteChanges();
    return response;
  }
  const answered = await handleInTurn(() => handler(ctx, input), takeTurn);
  await noteChanges();
  if (!schema) return c.body(null, 204);
  const { output, headers } = splitAnswer(operation, answered);
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) c.header(name, value);
  const onCount = isPaged(operation)
    ? (count?: number) => nameTotal(c, pageOf(call, { ctx, input, count, headers, takeTurn }))
    : undefined;
  if (isBatches(output))
    return streamList(c, yieldInSteps(output, takeTurn), { schema, mayBeKept, log: deps.log, onCount });
  if (Array.isArray(output)) await onCount?.(output.length);
  return sendJson(c, encodeJson(schema, output), call);
}

type Headers = Readonly<Record<string, string | undefined>>;

/** Returns the body of an answer, and the headers that go with it. */
function splitAnswer({ responseHeaders }: Operation, answered: unknown): { output: unknown; headers: Headers } {
  if (!responseHeaders) return { output: answered, headers: {} };
  return answered as { output: unknown; headers: Headers };
}

interface Counting {
  readonly ctx: Ctx;
  readonly input: Record<string, unknown>;
  readonly count: number | undefined;
  readonly headers: Headers;
  /** The list itself holds no turn while it is counted. */
  readonly takeTurn: TakeTurn;
}

function pageOf({ operation, handler }: Call, counting: Counting): Parameters<typeof nameTotal>[1] {
  const { ctx, input, count, headers, takeTurn } = counting;
  const { offset, limit, cursor } = input as { offset: number; limit: number; cursor?: string };
  const hasOne = async (number: number) => {
    const answered = await handler(ctx, { ...input, offset: number, limit: 1 });
    return hasRows(splitAnswer(operation, answered).output);
  };
  return {
    ...{ offset, limit, count, isOnward: cursor !== undefined },
    next: isCursorPaged(operation) ? { cursor: headers[NEXT_CURSOR_HEADER] } : undefined,
    hasRow: (number) => handleInTurn(() => hasOne(number), takeTurn),
  };
}

async function hasRows(rows: unknown): Promise<boolean> {
  if (!isBatches(rows)) return (rows as unknown[]).length > 0;
  const { value, done } = await rows.next(0);
  await rows.return();
  return !done && value.length > 0;
}

async function handleInTurn<T>(handle: () => Promise<T>, takeTurn: TakeTurn): Promise<T> {
  using _turn = await takeTurn({ hasBegun: false });
  return await handle();
}

/** Makes the context that a verb works with, once the caller is known and allowed; plain routes use it too. */
export async function openContext(c: Context<Env>, deps: Deps, access: Access): Promise<Ctx> {
  const caller = await authenticate(deps, c.req.raw.headers, access);
  if (caller.kind === "member" || caller.kind === "apiKey") requirePage(c, deps);
  proveConnection(c);
  c.env.outgoing.setHeader("Cache-Control", "no-store"); // send-json.ts may replace it
  await countCall(c, deps.rates, callerToken(caller));
  // No getter stands here: it would make this object twenty times as slow to create.
  return {
    ...deps,
    caller,
    requestId: c.get("requestId"),
    ifMatch: c.req.header("if-match"),
    address: () => addressOf(c, deps.trustedProxies),
    goneSignal: () => newGoneSignal(c),
    noteIncarnation: (incarnation: string) => c.set("incarnation", incarnation),
    isInterrupted: () => hasGone(c) || deps.stopping.aborted,
  } as Ctx;
}

/** A call by cookie may come from the page of another website. */
function requirePage(c: Context<Env>, deps: Deps): void {
  if (isByCookie(c.req.raw.headers, deps)) requireOwnPage(c.req.raw, deps);
}

/** Calls of agents and buckets change nothing that is to outlive the database, and come too often to look for such changes. */
function isByMachine({ kind }: Access): boolean {
  return kind === "agent" || kind === "inbox";
}

function honoPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ":$1");
}
