import { api, type CallInput, type PendingImport } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import { terminalStates } from "../import-life/import-request-state.ts";
import type { TestCloud } from "./start-cloud.ts";

/** The end of an upload. */
export interface EndedUpload extends Omit<PendingImport, "recordingId" | "errorCode"> {
  readonly recordingId: string | null;
  readonly errorCode: string | null;
}

/** Uploads a file and waits for the end of its import. */
export async function uploadFile(
  cloud: TestCloud,
  bytes: Uint8Array,
  body: CallInput<typeof api.uploads.create>,
): Promise<EndedUpload> {
  const { link, requestId } = await cloud.admin.call(api.uploads.create, body);
  const response = await putFile(link, bytes);
  if (response.status !== 200) throw new Error(`PUT answered ${response.status}: ${await response.text()}`);
  return endOfImport(cloud, requestId);
}

export async function endOfImport(cloud: TestCloud, id: string): Promise<EndedUpload> {
  await untilRequest(cloud, id, terminalStates);
  const query = { requestId: id, showCompleted: true, showQuarantined: true };
  const [ended] = await cloud.admin.call(api.pendingImports.list, query);
  if (!ended?.terminal) throw new Error(`import ${id} has ended, and its list says otherwise`);
  const { recordingId, errorCode } = await cloud.deps.db.prisma.importRequest.findUniqueOrThrow({ where: { id } });
  return { ...ended, recordingId, errorCode };
}

/** Waits until an import is in one of these states. */
export function untilRequest(cloud: Asked, id: string, states: readonly string[]): Promise<void> {
  return untilRow(cloud, { text: 'SELECT state::text FROM "ImportRequest" WHERE id = $1', id }, states);
}

/** Waits until a recording has one of these import statuses. */
export function untilRecording(cloud: Asked, id: string, statuses: readonly string[]): Promise<void> {
  return untilRow(cloud, { text: 'SELECT "importStatus"::text AS state FROM "Recording" WHERE id = $1', id }, statuses);
}

type Asked = Pick<TestCloud, "deps">;

/** It asks the database, because a call costs many times as much as one statement. */
async function untilRow({ deps }: Asked, { text, id }: { text: string; id: string }, states: readonly string[]) {
  const ask = async () => (await deps.db.pool.query<{ state: string }>(text, [id])).rows[0]?.state;
  await eventually(ask, (state) => state !== undefined && states.includes(state));
}

export function putFile(
  link: string,
  bytes: Uint8Array | string,
  headers: Record<string, string> = { "content-type": "application/octet-stream" },
): Promise<Response> {
  return fetch(link, { method: "PUT", headers, body: bytes as string });
}
