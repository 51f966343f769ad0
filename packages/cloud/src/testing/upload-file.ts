import { api, type CallInput, type PendingImport } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
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
  const query = { requestId: id, showCompleted: true, showQuarantined: true };
  const list = () => cloud.admin.call(api.pendingImports.list, query);
  const [ended] = await eventually(list, ([found]) => found?.terminal === true);
  const { recordingId, errorCode } = await cloud.deps.db.prisma.importRequest.findUniqueOrThrow({ where: { id } });
  return { ...ended!, recordingId, errorCode };
}

export function putFile(
  link: string,
  bytes: Uint8Array | string,
  headers: Record<string, string> = { "content-type": "application/octet-stream" },
): Promise<Response> {
  return fetch(link, { method: "PUT", headers, body: bytes as string });
}
