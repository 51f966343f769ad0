import { ApiCallError, NetworkError } from "@downlink/client";
import { api, type CallInput, type Output } from "@downlink/protocol";
import { RefusedError } from "../failures/failures.ts";
import { pause } from "../failures/pause.ts";
import type { Service } from "../login/open-service.ts";

const { viewLinks } = api;
/** A small file is made at once, a large one takes its time. */
const lookMs = { first: 100, most: 1000 };

type Made = Output<typeof viewLinks.create>;

/** A link that can be opened, and as a file its size and hash. */
export type OpenView = Made & Pick<Output<typeof viewLinks.get>, "size" | "contentSha256">;

/** Makes a view link, and waits until it can be opened. Throws {@link RefusedError} with the reason where its file cannot be made. */
export async function prepareView(service: Service, body: CallInput<typeof viewLinks.create>): Promise<OpenView> {
  const { client, signal } = service;
  const made = await client.call(viewLinks.create, body);
  let waitMs = lookMs.first;
  for (let view = made as Output<typeof viewLinks.get>; ; view = await client.call(viewLinks.get, { id: made.id })) {
    if (view.state === "ready") return { ...made, ...view };
    if (view.state === "failed") throw new RefusedError(view.failure ?? "the file could not be made");
    await pause(waitMs, signal);
    waitMs = Math.min(2 * waitMs, lookMs.most);
  }
}

/** Ends a link that is not needed any more. Where that cannot be done, it ends with its time: what was fetched is whole all the same. */
export async function endView({ client }: Service, id: string): Promise<void> {
  await client.call(viewLinks.delete, { id }).catch((error: unknown) => {
    if (!(error instanceof ApiCallError || error instanceof NetworkError)) throw error;
  });
}
