/**
 * Returns the text of a member of a JSON object unchanged; of several with one name the last, as JSON.parse does. Parsing and printing
 * would change it: 1e400, -0, 12345678901234567890, the order of keys that look like numbers, repeated keys. `json` must be known to be a
 * JSON object.
 */
export function memberText(json: string, name: string): string | undefined {
  let found: string | undefined;
  let at = skipTo(json, json.indexOf("{") + 1);
  while (json[at] === '"') {
    const nameEnd = valueEnd(json, at);
    const start = skipTo(json, json.indexOf(":", nameEnd) + 1);
    const end = valueEnd(json, start);
    if (JSON.parse(json.slice(at, nameEnd)) === name) found = json.slice(start, end);
    const next = skipTo(json, end);
    at = json[next] === "," ? skipTo(json, next + 1) : next;
  }
  return found;
}

/** Skips white space. */
function skipTo(json: string, start: number): number {
  let at = start;
  while (" \t\r\n".includes(json[at]!)) at++;
  return at;
}

/** Skips the value that begins here. This is a loop, because values may be nested deeper than any stack. */
function valueEnd(json: string, start: number): number {
  let depth = 0;
  let at = start;
  do {
    const mark = json[at]!;
    if (mark === "{" || mark === "[") depth++;
    else if (mark === "}" || mark === "]") depth--;
    at = mark === '"' ? stringEnd(json, at) : at + 1;
  } while (depth > 0 || !isPastScalar(json, { start, at }));
  return at;
}

/** Says whether a value outside of all brackets has ended at `at`: a number or word ends at the next punctuation mark. */
function isPastScalar(json: string, { start, at }: { start: number; at: number }): boolean {
  return '{["'.includes(json[start]!) || " \t\r\n,}".includes(json[at]!);
}

function stringEnd(json: string, start: number): number {
  let at = start + 1;
  while (json[at] !== '"') at += json[at] === "\\" ? 2 : 1;
  return at + 1;
}
