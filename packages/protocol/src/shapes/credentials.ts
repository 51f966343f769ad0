import { z } from "zod";

const MARK = "x-credential";

/** A text of an answer that gives access by itself: a token or a signed link. An answer that holds one is stored nowhere on its way. */
export const Credential = z.string().meta({ [MARK]: true });

type Definition = z.core.$ZodTypes["_zod"]["def"];

/** Whether an answer of this schema may hold a {@link Credential}, at whatever depth. */
export function holdsCredential(schema: z.ZodType): boolean {
  if (schema.meta()?.[MARK] === true) return true;
  const { def } = schema._zod as unknown as { def: Definition };
  return innerOf(def).some((inner) => holdsCredential(inner as z.ZodType));
}

function innerOf(def: Definition): readonly z.core.$ZodType[] {
  if (def.type === "object") return Object.values(def.shape);
  if (def.type === "array") return [def.element];
  if (def.type === "union") return def.options;
  if (def.type === "record") return [def.valueType];
  if (def.type === "pipe") return [def.in, def.out];
  return "innerType" in def ? [def.innerType] : [];
}
