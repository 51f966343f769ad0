import { type Access, type Contract, holdsCredential, type Operation, type WithHeaders } from "@downlink/protocol";
import type { Context, Hono } from "hono";
import type { Ctx, Deps } from "../context/context.ts";
import { againOf, type BoundContract } from "./again.ts";
import { answerOnce, makesOne } from "./answer-once.ts";
import { authenticate } from "./authenticate.ts";
import { proveConnection } from "./connections.ts";
import { type Encode, makeEncoder } from "./encoder.ts";
import type { Env } from "./env.ts";
import { goneSignal } from "./gone-signal.ts";
import type { AnyHandler } from "./handlers.ts";
import { inSteps, type TakeTurn } from "./in-steps.ts";
import { callerToken, listTurns } from "./in-turn.ts";
import { countCall } from "./limit-rates.ts";
import { parseInput } from "./parse.ts";
import { sendJson } from "./send-json.ts";
import { isBatches, streamList } from "./stream-list.ts";

/** Binds a resource's operations to its verbs: access, parse, call, encode. Anything else is middleware or a plain route. */
export function serve<C extends Contract>(app: Hono<Env>, deps: Deps, bound: BoundContract<C>): void {
  for (const [name, operation] of Object.entries(bound.contract)) {
    const handler = bound.handlers[name] as unknown as AnyHandler;
    const { method, response } = operation;
    const encode = response && makeEncoder(response);
    const mayBeKept = method === "get" && response !== undefined && !holdsCredential(response);
    const call = { operation, handler, encode, mayBeKept, again: againOf(bound, name) };
    app.on(operation.method.toUpperCase(), honoPath(operation.path), (c) => {
      c.set("path", operation.path);
      return answer(c, deps, call);
    });
  }
}

interface Call {
  readonly operation: Operation;
  readonly handler: AnyHandler;
  readonly again: AnyHandler | undefined;
  /** Undefined where success has no body. */
  readonly encode: Encode | undefined;
  /** What is read may be, but for tokens and signed links. */
  readonly mayBeKept: boolean;
}

async function answer(c: Context<Env>, deps: Deps, call: Call): Promise<Response> {
  const { operation, handler, again, encode, mayBeKept } = call;
  const ctx = await openContext(c, deps, operation.access);
  const input = await parseInput(c, operation);
  const takeTurn = listTurns(c, ctx, operation);
  if (encode && makesOne(operation)) {
    using _turn = await takeTurn({ hasBegun: false });
    const toText = async (answered: Promise<unknown>) => JSON.stringify(encode(await answered));
    return await answerOnce(c, ctx, {
      operation,
      input,
      answer: (inside) => toText(handler(inside, input)),
      again: (inside, madeId) => toText(again && madeId ? again(inside, madeId) : handler(inside, input)),
    });
  }
  const answered = await handleInTurn(() => handler(ctx, input), takeTurn);
  if (!encode) return c.body(null, 204);
  if (isBatches(answered)) return streamList(c, inSteps(answered, takeTurn), { encode, mayBeKept, log: deps.log });
  if (!operation.responseHeaders) return sendJson(c, JSON.stringify(encode(answered)), call);
  const { output, headers } = answered as WithHeaders<Operation>;
  for (const [name, value] of Object.entries(headers as object)) if (value !== undefined) c.header(name, String(value));
  return sendJson(c, JSON.stringify(encode(output)), call);
}

async function handleInTurn<T>(handle: () => Promise<T>, takeTurn: TakeTurn): Promise<T> {
  using _turn = await takeTurn({ hasBegun: false });
  return await handle();
}

/** What a verb works with, once the caller is known and allowed; for plain routes too. */
export async function openContext(c: Context<Env>, deps: Deps, access: Access): Promise<Ctx> {
  const caller = await authenticate(deps, c.req.raw.headers, access);
  proveConnection(c);
  c.env.outgoing.setHeader("Cache-Control", "no-store"); // Unless send-json.ts says otherwise
  await countCall(c, deps.rates, callerToken(caller));
  let signal: AbortSignal | undefined;
  return {
    ...deps,
    caller,
    requestId: c.get("requestId"),
    noteIncarnation: (incarnation: string) => c.set("incarnation", incarnation),
    get signal() {
      signal ??= AbortSignal.any([goneSignal(c), deps.stopping]); // few verbs ask for it, and it costs more than they do
      return signal;
    },
  } as Ctx;
}

function honoPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ":$1");
}
