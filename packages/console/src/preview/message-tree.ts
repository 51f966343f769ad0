import {
  isNumberArray,
  isStruct,
  MAX_DEPTH,
  type NumberArray,
  type Struct,
  type Value,
} from "@downlink/messages/value";

/** A message as text, cut to what a page can show. */
export interface TreeNode {
  readonly name: string;
  readonly text: string;
  readonly children?: readonly TreeNode[];
  /** How many more parts there are. */
  readonly leftOut?: number;
}

const limits = { elements: 100, fields: 500, nodes: 5000, textCharacters: 10_000, hexBytes: 32 } as const;

export function toTree(message: Value): TreeNode {
  return nodeOf("", message, { depth: 0, budget: { nodes: limits.nodes } });
}

interface Place {
  readonly depth: number;
  readonly budget: { nodes: number };
}

function nodeOf(name: string, value: Value, place: Place): TreeNode {
  place.budget.nodes -= 1;
  if (value instanceof Uint8Array) return { name, text: describeBytes(value) };
  if (Array.isArray(value) || isNumberArray(value)) return branch(name, arrayParts(value), place);
  if (isStruct(value)) return branch(name, structParts(value), place);
  return { name, text: describe(value) };
}

interface Parts {
  readonly text: string;
  readonly parts: readonly (readonly [string, Value])[];
  readonly count: number;
}

function arrayParts(values: Value[] | NumberArray): Parts {
  const shown = Array.from(values.slice(0, limits.elements) as ArrayLike<Value>);
  const text = values.length === 1 ? "1 element" : `${values.length} elements`;
  return { text, parts: shown.map((value, index) => [String(index), value] as const), count: values.length };
}

function structParts(struct: Struct): Parts {
  const names = Object.keys(struct);
  const parts = names.slice(0, limits.fields).map((name) => [name, struct[name]!] as const);
  return { text: "", parts, count: names.length };
}

function branch(name: string, { text, parts, count }: Parts, { depth, budget }: Place): TreeNode {
  if (depth >= MAX_DEPTH) return { name, text: `${text} (deeper than ${MAX_DEPTH}, not shown)`.trim() };
  const children: TreeNode[] = [];
  for (const [partName, value] of parts) {
    if (budget.nodes <= 0) break;
    children.push(nodeOf(cutText(partName), value, { depth: depth + 1, budget }));
  }
  const leftOut = count - children.length;
  return leftOut > 0 ? { name, text, children, leftOut } : { name, text, children };
}

function describe(value: string | number | bigint | boolean | null): string {
  return typeof value === "string" ? cutText(value) : String(value);
}

function cutText(text: string): string {
  if (text.length <= limits.textCharacters) return text;
  return `${text.slice(0, limits.textCharacters)}… (${text.length} characters)`;
}

function describeBytes(bytes: Uint8Array): string {
  const hex = Array.from(bytes.subarray(0, limits.hexBytes), (byte) => byte.toString(16).padStart(2, "0")).join(" ");
  const more = bytes.byteLength > limits.hexBytes ? " …" : "";
  return `${bytes.byteLength} bytes${hex === "" ? "" : `: ${hex}${more}`}`;
}
