import type { Clock } from "../../core/clock.ts";
import { ApiError, throwNotFound } from "../../core/errors.ts";
import { createLinkSigner, type LinkSigner } from "../../core/signed-link.ts";
import type { Transaction } from "../../db/transaction.ts";
import { signingKey } from "./key-schedule.ts";
import { listKeys } from "./site-key-rows.ts";
import { SILENT_NS } from "./unavailable-data.ts";

const RETRY_AFTER_SECONDS = 30;

/** A self-hosted site as the maker of a link needs it, in the place of this deployment's own address and key. */
export interface ServingSite {
  readonly id: string;
  readonly name: string;
  readonly signer: LinkSigner;
  publicUrl(): string;
}

interface Finding {
  readonly tx: Pick<Transaction, "site" | "siteKey">;
  readonly clock: Clock;
}

/** Finds a self-hosted site to which links can be made at this moment. Throws `SiteUnavailable`, with the reason. */
export async function findServingSite(finding: Finding, siteId: string): Promise<ServingSite> {
  const { serving, lastSeenAtNs, named } = await findSite(finding, siteId);
  const silentNs = finding.clock.nowNs() - lastSeenAtNs;
  if (silentNs > SILENT_NS)
    throw unavailable(`${named} has not been heard of for ${silentNs / 60_000_000_000n} minutes`);
  return serving;
}

/**
 * Finds a self-hosted site to which an agent can be sent, which may reach it although the control plane does not hear of it. Throws
 * `SiteUnavailable` while it was never set up.
 */
export async function findReceivingSite(finding: Finding, siteId: string): Promise<ServingSite> {
  return (await findSite(finding, siteId)).serving;
}

async function findSite({ tx, clock }: Finding, siteId: string) {
  const site = await tx.site.findUnique({ where: { id: siteId }, include: { process: true } });
  if (site?.type !== "self-hosted") throwNotFound(`self-hosted site ${siteId}`);
  const named = `self-hosted site "${site.name}" (${site.id})`;
  const { process, url: given } = site;
  if (!process) throw newNotSetUpError(`${named} has never connected: start downlink site there`);
  const url = given ?? process.url;
  if (url === null) throw newNotSetUpError(`${named} has no address`);
  const key = signingKey(await listKeys(tx, siteId), clock.nowNs());
  if (!key) throw newNotSetUpError(`${named} has not got its signing key yet; it gets it within seconds`);
  const signer = createLinkSigner([key.secret], site.id);
  const serving: ServingSite = { id: site.id, name: site.name, signer, publicUrl: () => url.replace(/\/+$/, "") };
  return { serving, lastSeenAtNs: process.lastSeenAtNs, named };
}

/** Waiting alone makes it no better. */
function newNotSetUpError(reason: string): ApiError {
  return new ApiError("SiteUnavailable", reason, { status: 409, retryAfterSeconds: RETRY_AFTER_SECONDS });
}

function unavailable(reason: string): ApiError {
  return new ApiError("SiteUnavailable", `${reason}; what it holds is unavailable until it is back`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
