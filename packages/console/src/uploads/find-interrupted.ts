import { partUploads } from "@downlink/protocol";
import { client } from "../api/client.ts";
import { explainFailure } from "../api/failure.ts";
import { isHeld } from "./hold-upload.ts";
import { forgetUpload, type KeptUpload, readKeptUploads } from "./kept-uploads.ts";
import { addInterrupted, uploads } from "./uploads.ts";

/** Shows the uploads of a user that were interrupted, once the service has confirmed them. Those that another tab sends are left to it. */
export async function findInterrupted(userId: string): Promise<void> {
  const isHere = ({ requestId }: KeptUpload) => uploads.peek().some((one) => one.requestId === requestId);
  for (const kept of readKeptUploads())
    if (kept.userId === userId && !isHere(kept) && !(await isHeld(kept.requestId))) await confirm(kept);
}

async function confirm(kept: KeptUpload): Promise<void> {
  const { requestId } = kept;
  try {
    const { parts, isStored } = await client.call(partUploads.get, { requestId });
    if (isStored)
      forgetUpload(requestId); // it is imported without this browser
    else
      addInterrupted(
        kept,
        parts.reduce((sum, { length }) => sum + length, 0),
      );
  } catch (error) {
    const { kind } = explainFailure(error);
    if (kind === "missing" || kind === "forbidden") forgetUpload(requestId);
    else console.warn(error); // it is looked for again when the page is looked at again
  }
}
