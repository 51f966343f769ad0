import { api } from "@downlink/protocol";
import { pagesOf } from "../../core/pages-of.ts";
import { isBegun, listReceived, type Received } from "./received-files.ts";
import type { SiteDeps } from "./site-deps.ts";
import type { SiteSession } from "./site-session.ts";
import { isUpload } from "./upload-key.ts";

type RelistDeps = Pick<SiteDeps, "blobs" | "log" | "stopping">;

interface Relisting {
  readonly session: SiteSession;
  readonly relistId: string;
  /** Reports files as if they had just come. */
  report(files: readonly Received[]): Promise<void>;
}

/** Says all that the store has: the files of requests first, so that the control plane knows the objects that come then. */
export async function relist({ blobs, log, stopping }: RelistDeps, relisting: Relisting): Promise<void> {
  const { session, relistId, report } = relisting;
  for await (const page of pagesOf(listReceived(blobs))) {
    stopping.throwIfAborted();
    const stats = await Promise.all(page.map(({ key }) => blobs.stat(key)));
    await report(page.filter(({ sizeBytes }, at) => stats[at]?.sizeBytes === sizeBytes));
    for (const [at, { requestId, key }] of page.entries())
      if (!stats[at]) log.error({ requestId, key }, "the store does not have the file of a request any more");
  }
  for await (const page of pagesOf(blobs.list(""))) {
    stopping.throwIfAborted();
    const present = page.flatMap(({ key, sizeBytes, isWhole }) =>
      isWhole && isUpload(key) ? [{ key, size: sizeBytes }] : [],
    );
    if (present.length === 0) continue;
    const { strangeKeys } = await session.call(api.site.report, { present });
    for (const key of strangeKeys)
      if (!(await isBegun(blobs, key)))
        log.error({ key }, "the control plane knows nothing of an object, which stays here");
  }
  await session.call(api.site.report, { relistedId: relistId });
}
