import type { Operation } from "@downlink/protocol";

type Schema = NonNullable<Operation["response"]>;

export interface Fault {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** Shorter arrays cost little, however wrong they are. */
const LONG_ARRAY = 100;

/**
 * Finds the first item of a long list that does not follow its schema. A schema by itself goes on to the end and keeps what it finds:
 * 95,000 empty objects in place of requests, 300 kB, took a gigabyte to be refused.
 */
export function findFirstFault(schema: Schema, value: unknown): Fault | undefined {
  return look(schema as unknown as Described, value, []);
}

/** The description that a schema of Zod has of itself. */
interface Described {
  readonly def: {
    readonly type: string;
    readonly element?: Described;
    readonly innerType?: Described;
    readonly shape?: Readonly<Record<string, Described>>;
  };
  safeDecode(value: unknown): { readonly success: boolean; readonly error?: { readonly issues: readonly Fault[] } };
}

function look({ def }: Described, value: unknown, path: readonly PropertyKey[]): Fault | undefined {
  if (def.innerType) return look(def.innerType, value, path);
  if (def.element && Array.isArray(value)) return lookAtItems(def.element, value, path);
  if (!def.shape || typeof value !== "object" || value === null) return undefined;
  for (const [key, field] of Object.entries(def.shape)) {
    const fault = look(field, (value as Record<string, unknown>)[key], [...path, key]);
    if (fault) return fault;
  }
  return undefined;
}

function lookAtItems(element: Described, items: readonly unknown[], path: readonly PropertyKey[]): Fault | undefined {
  for (const [index, item] of items.entries()) {
    const deeper = look(element, item, [...path, index]);
    if (deeper) return deeper;
    const issue = items.length > LONG_ARRAY ? element.safeDecode(item).error?.issues[0] : undefined;
    if (issue) return { path: [...path, index, ...issue.path], message: issue.message };
  }
  return undefined;
}
