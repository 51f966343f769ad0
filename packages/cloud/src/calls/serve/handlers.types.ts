// The compiler reads this file, and nothing runs it: each line below `@ts-expect-error` must not compile.
import { apiKey, type Operation } from "@downlink/protocol";
import { z } from "zod";
import type { Handlers } from "./handlers.ts";

const Part = z.object({ name: z.string(), since: z.string().optional() });
const Answer = z.object({ id: z.string(), note: z.string().optional(), parts: z.array(Part).optional() });
type Answer = z.infer<typeof Answer>;

const example = {
  method: "get",
  path: "/v1/example",
  access: apiKey("projects.list", "projects"),
  summary: "An example",
  response: Answer,
} as const satisfies Operation;
type Examples = Handlers<{ readonly get: typeof example; readonly other: typeof example }>;

const whole = { id: "a", note: undefined, parts: [{ name: "b", since: undefined }] };

export const complete: Examples = { get: async () => whole, other: async () => ({ ...whole, parts: undefined }) };

// @ts-expect-error A verb is missing.
export const withoutVerb: Examples = { get: async () => whole };

export const incomplete: Examples = {
  // @ts-expect-error A field that may be undefined is missing.
  get: async () => ({ id: "a", parts: undefined }),
  // @ts-expect-error It is missing in a part of the answer.
  other: async () => ({ ...whole, parts: [{ name: "b" }] }),
};

const asContractHasIt: Answer = whole;

export const undeclared: Examples = {
  ...complete,
  // @ts-expect-error A function that declares the contract's own type may leave a field out.
  get: async () => asContractHasIt,
};
