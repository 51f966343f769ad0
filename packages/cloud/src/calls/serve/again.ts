import { type Answer, type Contract, type Input, pathParameters } from "@downlink/protocol";
import type { z } from "zod";
import type { Ctx, CtxOf } from "../context/context.ts";
import type { AnyHandler, Handlers } from "./handlers.ts";

/**
 * For operations that create something: how a repeat's answer is made again from the id of what was created, if the contract's own `get`
 * does not do it.
 */
export type Agains<C extends Contract> = {
  readonly [K in keyof C]?: (ctx: CtxOf<C[K]>, madeId: string) => Promise<Answer<C[K]>>;
};

/** A check that waits for others than the database comes before the call's transaction, which would keep a connection meanwhile. */
export type Checks<C extends Contract> = {
  readonly [K in keyof C]?: (ctx: CtxOf<C[K]>, input: Input<C[K]>) => Promise<void>;
};

/** How a resource is shown to the audit log before it is changed. */
export interface Shown {
  readonly schema: z.ZodType;
  /** 404 if it is not there, or not visible. */
  read(ctx: Ctx, input: never): Promise<object>;
}

export interface BoundContract<C extends Contract> {
  readonly contract: C;
  readonly handlers: Handlers<C>;
  readonly agains?: Agains<C>;
  readonly checks?: Checks<C>;
  /** Absent if the contract's own `get` shows it. */
  readonly shown?: Shown;
}

/** By default the created thing is read by its `get`, as everybody reads it. */
export function chooseAgain<C extends Contract>(
  { contract, handlers, agains }: BoundContract<C>,
  name: string,
): AnyHandler | undefined {
  const own = agains?.[name] as AnyHandler | undefined;
  const [parameter] = pathParameters(contract.get?.path ?? "");
  if (own || parameter === undefined) return own;
  return (ctx, madeId) => (handlers.get as unknown as AnyHandler)(ctx, { [parameter]: madeId });
}
