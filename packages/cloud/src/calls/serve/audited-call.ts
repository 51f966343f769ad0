// An operation with `audits` in the contract runs in one transaction with its entry of the audit log: the thing is read before,
// as its `get` shows it, and the answer tells what it is after. Changes of one thing run one after another, so that what an entry calls
// `before` is what the change replaced. A refused call, and a repeat by `Idempotency-Key`, write none.

import { api, type Contract, holdsCredential, type Operation, pathParameters } from "@downlink/protocol";
import { z } from "zod";
import { callerId } from "../../core/callers.ts";
import { ApiError } from "../../core/errors.ts";
import { joinOneConnection } from "../../db/one-connection.ts";
import type { Transaction } from "../../db/transaction.ts";
import { findActor } from "../audit-log/find-actor.ts";
import { writeEntry } from "../audit-log/write-entry.ts";
import type { Ctx } from "../context/context.ts";
import type { BoundContract } from "./again.ts";
import type { AnyHandler } from "./handlers.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Returns the operation's handler, which also writes to the audit log if the contract says so. */
export function auditedHandler<C extends Contract>(bound: BoundContract<C>, name: string): AnyHandler {
  const handler = bound.handlers[name] as unknown as AnyHandler;
  const operation = bound.contract[name]!;
  const { audits: resourceKind } = operation;
  if (resourceKind === undefined || operation.auditsItself) return handler;
  const called = nameOf(operation);
  const readBefore = readerOf(bound, operation);
  const showsThing = operation.method === "delete" || operation.response === shownBy(bound);
  const toAfter = operation.method === "delete" ? () => undefined : fieldsOf(operation.response);
  return (ctx, input) =>
    joinOneConnection(ctx.db, async (db) => {
      const inside = { ...ctx, db };
      await lockThing(db.tx, ctx, [resourceKind, thingOf(operation, input)]);
      const [actor, before] = [await findActor(db.tx, inside), await readBefore(inside, input)];
      const answered = await handler(inside, input);
      const resourceId =
        before?.id ?? findMadeId(operation, answered) ?? (thingOf(operation, input) || callerId(ctx.caller));
      const about = { orgId: ctx.caller.orgId, nowNs: ctx.clock.nowNs(), operation: called };
      const isComparable =
        showsThing || (before?.id !== undefined && before.id === (answered as Fields | undefined)?.id);
      const deleted = operation.method === "delete" ? (input as Fields) : undefined;
      const fields = { before: isComparable ? (before ?? deleted) : undefined, after: toAfter(answered) };
      await writeEntry(db.tx, actor, { ...about, resourceKind, resourceId: String(resourceId), ...fields });
      return answered;
    });
}

/** Returns the operation's name as the documentation writes it: `apiKeys.create`. */
function nameOf(operation: Operation): string {
  const named = Object.entries(api).flatMap(([resource, contract]) =>
    Object.entries(contract as Contract).map(([name, one]) => [one, `${resource}.${name}`] as const),
  );
  return named.find(([one]) => one === operation)?.[1] ?? `${operation.method} ${operation.path}`;
}

/** Returns the parameter of the path, which names the thing; an empty text if the operation creates something. */
function thingOf({ path }: Operation, input: unknown): string {
  const [parameter] = pathParameters(path);
  return parameter === undefined ? "" : String((input as Fields)[parameter]);
}

function findMadeId({ makes }: Operation, answered: unknown): unknown {
  if (typeof makes !== "object" || makes.idField === undefined) return undefined;
  return (answered as Fields)[makes.idField];
}

async function lockThing(tx: Transaction, { caller }: Ctx, [kind, id]: readonly [string, string]): Promise<void> {
  if (id === "") return;
  const name = `audit ${caller.orgId} ${kind} ${id}`;
  await tx.$queryRaw`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))::text`;
}

/** Returns the schema of what is read before a change. */
function shownBy<C extends Contract>({ contract, shown }: BoundContract<C>): z.ZodType | undefined {
  return shown?.schema ?? contract.get?.response;
}

/** Returns how the thing is read before the change; one that is not there is left to the handler to refuse. */
function readerOf<C extends Contract>(bound: BoundContract<C>, operation: Operation) {
  const { contract, handlers, shown } = bound;
  const schema = shownBy(bound);
  const named = pathParameters(operation.path);
  const asked = pathParameters(contract.get?.path ?? "");
  const isNamed = shown !== undefined || (asked.length > 0 && asked.every((name) => named.includes(name)));
  if (named.length === 0 || !isNamed || schema === undefined) return async () => undefined;
  const read = (shown?.read ?? handlers.get) as unknown as AnyHandler;
  const toFields = fieldsOf(schema);
  const defaults = contract.get?.query?.safeParse({}).data;
  return async (ctx: Ctx, input: unknown): Promise<Fields | undefined> => {
    try {
      const found = (await read(ctx, { ...defaults, ...(input as Fields) })) as Fields;
      return { ...toFields(found), ...(typeof found.id === "string" && { id: found.id }) };
    } catch (error) {
      if (error instanceof ApiError && error.code === "NotFound") return undefined;
      throw error;
    }
  };
}

/**
 * Returns a function that writes an answer as JSON shows it, without the fields that may hold a secret. It looks for those once, at its
 * first call: a start would look at every operation's.
 */
function fieldsOf(schema: z.ZodType | undefined): (answered: unknown) => Fields {
  let open: z.ZodObject | undefined;
  return (answered) => {
    if (schema === undefined) return {};
    open ??= leaveOutCredentials(schema);
    return dropPath(z.encode(open, answered as never) as Fields);
  };
}

function leaveOutCredentials(schema: z.ZodType): z.ZodObject {
  const shape = schema instanceof z.ZodObject ? (schema.shape as Record<string, z.ZodType>) : {};
  return z.object(Object.fromEntries(Object.entries(shape).filter(([, field]) => !holdsCredential(field))));
}

/** The address of a webhook may hold its receiver's secret behind the host. */
function dropPath(fields: Fields): Fields {
  const { url } = fields;
  return typeof url === "string" && URL.canParse(url) ? { ...fields, url: new URL(url).origin } : fields;
}
