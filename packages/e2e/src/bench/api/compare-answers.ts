import assert from "node:assert/strict";
import type { Sides } from "./measure-operation.ts";
import type { MeasuredOperation } from "./operations.ts";
import { RawConnection } from "./raw-connection.ts";

/** The reference must do the same work, or the comparison is worthless: it fails if the answers differ. */
export async function requireSameAnswer(
  { cloud, reference }: Sides,
  { name, request, isSame }: MeasuredOperation,
): Promise<void> {
  const ours = await ask(cloud.port, request(0));
  const theirs = await ask(reference.port, request(0));
  if (isSame) assert.equal(ours, theirs, name);
  else assert.deepEqual(fieldsOf(JSON.parse(ours)), fieldsOf(JSON.parse(theirs)), name);
}

async function ask(port: number, request: string): Promise<string> {
  const connection = await RawConnection.open(port);
  const { status, body } = await connection.send(request);
  connection.close();
  assert.equal(status, 200, body);
  return body;
}

/** Lists the names of all fields, at any depth, in order. */
function fieldsOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fieldsOf);
  if (typeof value !== "object" || value === null) return typeof value;
  return Object.entries(value).map(([name, within]) => [name, fieldsOf(within)]);
}
