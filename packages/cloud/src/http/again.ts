import { type Answer, type Contract, pathParameters } from "@downlink/protocol";
import type { CtxOf } from "../context/context.ts";
import type { AnyHandler, Handlers } from "./handlers.ts";

/** How the answer to a call that made something is made once more, by the id of that: where the contract's own `get` does not. */
export type Agains<C extends Contract> = {
  readonly [K in keyof C]?: (ctx: CtxOf<C[K]>, madeId: string) => Promise<Answer<C[K]>>;
};

export interface BoundContract<C extends Contract> {
  readonly contract: C;
  readonly handlers: Handlers<C>;
  readonly agains?: Agains<C>;
}

/** What was made is read by default as anybody reads it. */
export function againOf<C extends Contract>(
  { contract, handlers, agains }: BoundContract<C>,
  name: string,
): AnyHandler | undefined {
  const own = agains?.[name] as AnyHandler | undefined;
  const [parameter] = pathParameters(contract.get?.path ?? "");
  if (own || parameter === undefined) return own;
  return (ctx, madeId) => (handlers.get as unknown as AnyHandler)(ctx, { [parameter]: madeId });
}
