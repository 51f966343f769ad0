import type { Hono } from "hono";
import { makeLink } from "../../core/signed-link.ts";
import { findServingSite } from "../../store/site-keys/find-serving-site.ts";
import type { Env } from "../connections/env.ts";
import type { Ctx } from "../context/context.ts";
import { sendBlob } from "./download.ts";
import { type DataPlaneDeps, logBreak } from "./link-request.ts";
import { openMadeLink } from "./made-link.ts";

const PATH = "/data-plane/files";
/** A name may have any length, but a link has to fit the header lines of every client. */
const MAX_NAME_CHARACTERS = 255;

/** A whole stored file, as it was uploaded. */
export interface StoredFile {
  /** Names it in the link: the id of a recording or of an import request. */
  readonly id: string;
  /** The path as a device or person gave it, of which the last part is the name that the file is saved under. */
  readonly path: string;
  readonly blobKey: string;
  /** The tag without quotes. */
  readonly etag: string;
  /** The self-hosted site that has the file; undefined: our own store has it. */
  readonly siteId: string | undefined;
}

/** Returns the last part of the file's path; of one that is too long the end, which says what the file is. */
export function fileNameOf({ id, path }: Pick<StoredFile, "id" | "path">): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return name.slice(-MAX_NAME_CHARACTERS).toWellFormed() || id;
}

/** Makes a link that carries all that the download needs. Its path ends in the file's name, by which viewers know the format. */
export async function linkStoredFile(ctx: Ctx, file: StoredFile, lifeMs: number): Promise<ReturnType<typeof makeLink>> {
  const { db, clock } = ctx;
  const { id, blobKey, etag, siteId } = file;
  const site = siteId === undefined ? undefined : await findServingSite({ tx: db.prisma, clock }, siteId);
  const fileName = fileNameOf(file);
  const path = `${PATH}/${id}/${fileName.replace(/[^\w.+-]/g, "_").replace(/^\.+$/, id)}`; // `..` would lead elsewhere
  return makeLink({ ...ctx, ...site }, { method: "GET", path, claims: { blobKey, etag, fileName }, lifeMs });
}

/** Serves such a link: the stored file, whole or in ranges. Its bytes are unchecked, so their media type is that of plain bytes. */
export function storedFileRoute(app: Hono<Env>, deps: DataPlaneDeps): void {
  app.get(`${PATH}/:id/:fileName`, async (c) => {
    using link = await openMadeLink(c, deps);
    const { claims, gone } = link;
    return await sendBlob(c, await deps.blobs.open(claims.blobKey!), {
      etag: claims.etag!,
      mediaType: "application/octet-stream",
      fileName: claims.fileName!,
      controller: gone,
      onFailure: logBreak(c, deps),
    });
  });
}
