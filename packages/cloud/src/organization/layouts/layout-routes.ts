// We keep `data` as the text that was sent and insert it into answers unparsed, because parsing changes it (1e400, -0,
// 12345678901234567890, key order, repeated keys) and may exhaust the stack. So `organization/layouts/layout-routes.ts` has routes of its own; lists are
// streamed in batches, because 2000 layouts of 4 MiB do not fit into memory.

import { api, type Input, type Operation } from "@downlink/protocol";
import type { Context, Hono } from "hono";
import { streamBody } from "../../calls/answers/stream-response.ts";
import type { Env } from "../../calls/connections/env.ts";
import { listTurns } from "../../calls/connections/in-turn.ts";
import { yieldInSteps } from "../../calls/connections/yield-in-steps.ts";
import type { Ctx, Deps } from "../../calls/context/context.ts";
import { answerOnce, makesOne } from "../../calls/serve/answer-once.ts";
import { refuseMatch } from "../../calls/serve/if-match.ts";
import { parseInput } from "../../calls/serve/parse.ts";
import { openContext, serve } from "../../calls/serve/serve.ts";
import { type LayoutRow, layoutJson } from "./layout-rows.ts";
import {
  createLayout,
  deleteLayout,
  getLayout,
  listLayouts,
  restoreLayout,
  updateLayout,
  type WithText,
} from "./layouts.ts";

const JSON_TYPE = { "Content-Type": "application/json" };
const { list, create, get, update, delete: remove, restore } = api.layouts;

/**
 * Operations with `data` have routes of their own: the data is passed as text, because no parsed value holds all that JSON can express, and
 * as a stream, because it is large.
 */
export function layoutRoutes(app: Hono<Env>, deps: Deps): void {
  serve(app, deps, {
    contract: { delete: remove, restore },
    handlers: { delete: deleteLayout, restore: restoreLayout },
  });
  app.get("/v1/layouts", (c) => answerList(c, deps));
  app.get("/v1/layouts/:id", (c) => answerOne(c, deps, { operation: get, answer: getLayout }));
  app.post("/v1/layouts", (c) => answerOne(c, deps, { operation: create, answer: createLayout }));
  app.patch("/v1/layouts/:id", (c) => answerOne(c, deps, { operation: update, answer: updateLayout }));
}

async function answerList(c: Context<Env>, deps: Deps): Promise<Response> {
  const ctx = await openContext(c, deps, list.access);
  const query = (await parseInput(c, list)) as Input<typeof list>;
  return streamBody(c, listJson(yieldInSteps(listLayouts(ctx, query), listTurns(c, ctx, list))), {
    headers: JSON_TYPE,
    onFailure: (error) => ctx.log.error({ err: error, requestId: ctx.requestId }, "a list of layouts broke off"),
  });
}

async function* listJson(batches: AsyncIterable<LayoutRow[]>): AsyncGenerator<Uint8Array, void> {
  let before = "[";
  for await (const rows of batches)
    for (const row of rows) {
      yield Buffer.from(before + layoutJson(row));
      before = ",";
    }
  yield Buffer.from(before === "[" ? "[]" : "]");
}

interface Bound<O extends Operation> {
  readonly operation: O;
  readonly answer: (ctx: Ctx, input: WithText<Input<O>>) => Promise<LayoutRow>;
}

async function answerOne<O extends Operation>(
  c: Context<Env>,
  deps: Deps,
  { operation, answer }: Bound<O>,
): Promise<Response> {
  const ctx = await openContext(c, deps, operation.access);
  if (ctx.ifMatch !== undefined && operation.method === "patch") refuseMatch();
  const input = await parseInput(c, operation, ctx);
  const answerIn = async (inside: Ctx) => layoutJson(await answer(inside, input as WithText<Input<O>>));
  if (!makesOne(operation)) return c.body(await answerIn(ctx), 200, JSON_TYPE);
  const answerAgain = async (inside: Ctx, id: string | null) =>
    layoutJson(await getLayout(inside, { id: id!, includeData: true }));
  return answerOnce(c, ctx, { operation, input, answer: answerIn, again: answerAgain });
}
