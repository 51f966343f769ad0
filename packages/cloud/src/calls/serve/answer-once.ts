// A POST that creates something is executed once for an `Idempotency-Key` (`makes` of the contract says what it creates). The created rows
// and the answer that a repeat gets commit together, so all queries of the call run over one connection in one transaction
// (`db/one-connection.ts`); a repeat that waits for the first call holds no connection. We do not store a claim before and the answer
// after, because a crash in between would leave a row that no repeat knows. Refusals are kept; server errors and rate limits are not. An
// answer with a secret is not kept: its repeat is 409 and names what was created. A package of an extension is recognized by its SHA-256.
// The nightly sweep removes answers that are a day old.

import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import {
  IDEMPOTENCY_HEADER,
  MAX_IDEMPOTENCY_KEY_CHARACTERS,
  type Making,
  type Operation,
  REPLAYED_HEADER,
} from "@downlink/protocol";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { callerId } from "../../core/callers.ts";
import { ApiError, invalid, refuse } from "../../core/errors.ts";
import type { KeptAnswerModel } from "../../db/generated/models.ts";
import { withOneConnection } from "../../db/one-connection.ts";
import type { Env } from "../connections/env.ts";
import type { Ctx } from "../context/context.ts";
import { type CallOnce, claim, findKept, keepAnswer } from "./kept-answers.ts";

/** A longer answer is made again from what was created. */
const MAX_KEPT_CHARACTERS = 65_536;
const WAIT_MS = 5000;
const LOOK_AGAIN_MS = 100;
const RETRY_AFTER_SECONDS = 1;
const JSON_TYPE = { "Content-Type": "application/json" };

interface Call {
  readonly operation: Pick<Operation, "method" | "makes">;
  /** The contents of the request, as they were parsed. */
  readonly input: unknown;
  /** Executes the call, and returns the answer's JSON. */
  answer(ctx: Ctx): Promise<string>;
  /** Returns the answer's JSON again, by the id of what was created, if that has an id. */
  again(ctx: Ctx, madeId: string | null): Promise<string>;
}

interface Once extends Call {
  readonly name: CallOnce;
  readonly making: Making;
  readonly fingerprint: string;
}

/**
 * Answers a call; if it has an `Idempotency-Key`, it is executed once. The created rows and the answer that a repeat gets are committed
 * together, so that after any crash a repeat finds both or neither. A repeat during the first call waits, without a connection.
 */
export async function answerOnce(c: Context<Env>, ctx: Ctx, call: Call): Promise<Response> {
  const making = call.operation.makes as Making;
  const key = readKey(c);
  if (key === undefined) return c.body(await call.answer(ctx), 200, JSON_TYPE);
  const name = { callerId: callerId(ctx.caller), key };
  return retryUntilAnswered(c, ctx, { ...call, name, making, fingerprint: fingerprintOf(c, call) });
}

/** Says whether the call repeats one whose answer is kept, and so will create nothing. */
export async function wasAnswered(c: Context<Env>, ctx: Ctx): Promise<boolean> {
  const key = readKey(c);
  return key !== undefined && (await findKept(ctx, { callerId: callerId(ctx.caller), key })) !== undefined;
}

/** Says whether an `Idempotency-Key` has an effect. */
export function makesOne({ makes }: Pick<Operation, "makes">): boolean {
  return makes !== undefined && makes !== "nothing";
}

async function retryUntilAnswered(c: Context<Env>, ctx: Ctx, once: Once): Promise<Response> {
  const deadlineMs = performance.now() + WAIT_MS;
  for (;;) {
    const kept = await findKept(ctx, once.name);
    if (kept) return repeat(c, ctx, { kept, once });
    try {
      return c.body(await makeOnce(ctx, once), 200, JSON_TYPE);
    } catch (error) {
      if (!(error instanceof UnderWayError)) throw error;
    }
    if (performance.now() > deadlineMs || ctx.isInterrupted()) {
      const sentence = "the first call with this Idempotency-Key is still under way; ask again";
      throw new ApiError("IdempotencyConflict", sentence, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    await delay(LOOK_AGAIN_MS);
  }
}

/**
 * A refusal has undone what was begun, and is kept in a transaction of its own. Server errors and "try later" are not kept: a repeat may
 * succeed.
 */
async function makeOnce(ctx: Ctx, once: Once): Promise<string> {
  const { name, fingerprint } = once;
  const row = { ...name, fingerprint, madeId: null, createdAtNs: ctx.clock.nowNs() };
  try {
    return await withOneConnection(ctx.db, async (db) => {
      if (!(await claim({ ...ctx, db }, name))) throw new UnderWayError();
      const text = await once.answer({ ...ctx, db });
      await keepAnswer(db, { ...row, status: 200, ...describeKept(once.making, text) });
      return text;
    });
  } catch (error) {
    if (error instanceof ApiError && error.status < 500 && error.status !== 429)
      await keepAnswer(ctx.db, { ...row, status: error.status, body: JSON.stringify(error.toBody()) });
    throw error;
  }
}

function describeKept({ repeat, idField }: Making, text: string): Pick<KeptAnswerModel, "body" | "madeId"> {
  if (repeat === "answer" && text.length <= MAX_KEPT_CHARACTERS) return { body: text, madeId: null };
  const answer = JSON.parse(text) as Record<string, unknown>;
  return { body: null, madeId: idField === undefined ? null : String(answer[idField]) };
}

async function repeat(
  c: Context<Env>,
  ctx: Ctx,
  { kept, once }: { kept: KeptAnswerModel; once: Once },
): Promise<Response> {
  if (kept.fingerprint !== once.fingerprint)
    refuse(
      "IdempotencyConflict",
      "this Idempotency-Key was used for another request; choose a new one for each thing to be made",
    );
  c.header(REPLAYED_HEADER, "true");
  const status = kept.status as ContentfulStatusCode;
  if (kept.body !== null) return c.body(kept.body, status, JSON_TYPE);
  if (once.making.repeat === "secret")
    refuse(
      "SecretAlreadyShown",
      `the first call with this Idempotency-Key made ${kept.madeId}, and its secret is shown once: where that was lost, delete it and make another with a new key`,
    );
  return c.body(await once.again(ctx, kept.madeId), status, JSON_TYPE);
}

function readKey(c: Context<Env>): string | undefined {
  const key = c.req.header(IDEMPOTENCY_HEADER);
  if (key === undefined || (key.length > 0 && key.length <= MAX_IDEMPOTENCY_KEY_CHARACTERS)) return key;
  return invalid("Idempotency-Key", `must hold 1 to ${MAX_IDEMPOTENCY_KEY_CHARACTERS} characters`);
}

/**
 * The fingerprint is made of the path and of the parsed values, not of the bytes: different spaces and ignored fields make no other
 * request.
 */
function fingerprintOf(c: Context<Env>, { operation, input }: Call): string {
  const text = JSON.stringify([operation.method, c.req.path, input], (_name, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
  return createHash("sha256").update(text).digest("hex");
}

class UnderWayError extends Error {
  override readonly name = "UnderWayError";
}
