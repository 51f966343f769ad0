import type { Answer, Contract, Input } from "@downlink/protocol";
import type { Complete } from "../../core/complete.ts";
import type { Batches } from "../../db/read-in-batches.ts";
import type { Ctx, CtxOf } from "../context/context.ts";

/** One function for each operation; a missing one does not compile. */
export type Handlers<C extends Contract> = {
  readonly [K in keyof C]: (ctx: CtxOf<C[K]>, input: Input<C[K]>) => Promise<Answered<Complete<Answer<C[K]>>>>;
};

/** A list may come in batches: if its items can be large, a page of them does not fit into memory. */
type Answered<A> = A extends readonly (infer Item)[]
  ? A | Batches<Item>
  : A extends { readonly output: readonly (infer Item)[]; readonly headers: infer Headers }
    ? { readonly output: A["output"] | Batches<Item>; readonly headers: Headers }
    : A;

export type AnyHandler = (ctx: Ctx, input: unknown) => Promise<unknown>;
