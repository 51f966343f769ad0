import { type CallInput, explainIssue, type Operation } from "@downlink/protocol";
import { UsageError } from "../failures/failures.ts";

/** The values of the flags of a command, by their names in camel case. */
export type Flags = Readonly<Record<string, unknown>>;

/**
 * Reads flags as fields of an operation's query, which has them as texts as well: `names` is from the flag to the field. Flags that are not
 * given are left out. Throws {@link UsageError} with the flag's name.
 */
export function readFilters<O extends Operation, const F extends string & keyof CallInput<O>>(
  { query }: O,
  flags: Flags,
  names: Readonly<Record<string, F>>,
): Partial<Pick<CallInput<O>, F>> {
  const given = Object.entries<F>(names).filter(([flag]) => flags[flag] !== undefined);
  const read = given.map(([flag, field]) => [field, readField(nameOf(flag), query?.shape[field], flags[flag])]);
  return Object.fromEntries(read) as Partial<Pick<CallInput<O>, F>>;
}

/** Reads an argument as a parameter of an operation's path. Throws {@link UsageError} with the argument's name. */
export function readArgument(
  { params }: Operation,
  field: string,
  { name, text }: { name: string; text: string },
): string {
  if (text === "." || text === "..") throw new UsageError(`${name} must not be . or ..`);
  return readField(name, params?.shape[field], text) as string;
}

type Field = NonNullable<Operation["response"]>;

function readField(name: string, field: unknown, text: unknown): unknown {
  const read = (field as Field).safeDecode(text as never, { error: explainIssue });
  if (read.success) return read.data;
  throw new UsageError(`${name} ${read.error.issues[0]?.message}`);
}

function nameOf(flag: string): string {
  return `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
