/** How large a JSON text may be. A larger one is refused before it is parsed, and before all of it is there. */
export interface JsonLimits {
  readonly bytes: number;
  /** The most objects and arrays within each other. Absent if any number is allowed. */
  readonly depth?: number;
  /**
   * The most objects and arrays in all, because an empty one of two bytes takes thirty times as much memory as a value. Absent if any
   * number is allowed.
   */
  readonly containers?: number;
  /** The most values of all kinds, with objects and arrays. Absent if any number is allowed. */
  readonly values?: number;
}

export interface JsonGuard {
  /** Answers why what was read so far is too much, or undefined if it is not. */
  take(chunk: Uint8Array): string | undefined;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/** It looks at bytes only, because no byte of a character beyond ASCII is one that it looks for. */
export function createJsonGuard(limits: JsonLimits): JsonGuard {
  const { bytes, depth = Infinity, containers = Infinity, values = Infinity } = limits;
  const seen = { bytes: 0, depth: 0, deepest: 0, containers: 0, commas: 0 };
  const text = { isOpen: false, isEscaped: false };
  const countsBytesOnly = Math.min(depth, containers, values) === Infinity;
  const readBytes = (chunk: Uint8Array) => {
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]!;
      if (text.isOpen) readText(text, byte);
      else if (byte === QUOTE) text.isOpen = true;
      else readStructure(seen, byte);
    }
  };
  return {
    take(chunk) {
      seen.bytes += chunk.byteLength;
      if (seen.bytes > bytes) return `is longer than ${bytes} bytes`;
      if (countsBytesOnly) return undefined;
      readBytes(chunk);
      if (seen.deepest > depth) return `is nested deeper than ${depth} levels`;
      if (seen.containers > containers) return `holds more than ${containers} objects and arrays`;
      return seen.commas + seen.containers > values ? `holds more than ${values} values` : undefined;
    },
  };
}

function readText(text: { isOpen: boolean; isEscaped: boolean }, byte: number): void {
  if (text.isEscaped) text.isEscaped = false;
  else if (byte === BACKSLASH) text.isEscaped = true;
  else if (byte === QUOTE) text.isOpen = false;
}

/** Brackets and braces count alike, because the parser finds out whether they fit together. */
function readStructure(
  seen: { depth: number; deepest: number; containers: number; commas: number },
  byte: number,
): void {
  if (byte === COMMA) seen.commas += 1;
  else if (byte === 0x5b || byte === 0x7b) {
    seen.containers += 1;
    seen.depth += 1;
    if (seen.depth > seen.deepest) seen.deepest = seen.depth;
  } else if (byte === 0x5d || byte === 0x7d) seen.depth -= 1;
}
