import { commandLine, writeEntry } from "../../calls/audit-log/write-entry.ts";
import type { Deps } from "../../calls/context/context.ts";
import { CommandError } from "../../core/command-error.ts";
import { ConfigError } from "../../core/config-error.ts";
import { newId } from "../../db/ids.ts";
import { withTransaction } from "../../db/transaction.ts";
import { BucketUnavailableError } from "../../store/blobs/buckets/bucket-unavailable.ts";
import type { BucketPlace } from "../../store/blobs/buckets/customer-bucket.ts";

/** A bucket that is to become a site, as the operator names it. */
export interface NewBucketSite extends BucketPlace {
  readonly name: string;
  /** The id or name of the organization; undefined: the only one. */
  readonly organization: string | undefined;
  /** The name of the credentials; null: those of the machine. */
  readonly credentials: string | null;
}

/** The bucket or container of this deployment's own store. */
export interface OwnBucket {
  readonly bucket: { readonly bucket: string; readonly endpoint?: string | undefined } | undefined;
  readonly container: { readonly account: string; readonly container: string } | undefined;
}

type CreateDeps = Pick<Deps, "db" | "buckets" | "clock">;

/** Makes a site of a customer's bucket, once that can be listed. Nothing is written there, not even to try. Returns its id. */
export async function createBucketSite(deps: CreateDeps, given: NewBucketSite, own: OwnBucket): Promise<string> {
  const { name, organization, ...bucket } = given;
  requireComplete(bucket);
  requireForeign(bucket, own);
  const orgId = await findOrganization(deps, organization);
  if ((await deps.db.prisma.site.count({ where: { orgId, name } })) > 0)
    throw new CommandError(`the organization has a site named "${name}" already`);
  await requireReadable(deps, bucket);
  const id = newId("site");
  const nowNs = deps.clock.nowNs();
  const data = { id, orgId, name, type: "byob", createdAtNs: nowNs, bucket: { create: bucket } } as const;
  const change = { operation: "site create-byob", resourceKind: "site", resourceId: id } as const;
  await withTransaction(deps.db, async (tx) => {
    await tx.site.create({ data });
    await writeEntry(tx, commandLine, { orgId, nowNs, ...change, after: { name, type: "byob", ...bucket } });
  });
  return id;
}

type NamedPlace = BucketPlace & Pick<NewBucketSite, "credentials">;

/** As Azure wants the names of storage accounts. */
const ACCOUNT = /^[a-z0-9]{3,24}$/;

function requireComplete({ provider, endpoint, azureStorageAccountName: account, credentials }: NamedPlace): void {
  if (provider === "s3_compatible" && endpoint === null)
    throw new CommandError("--endpoint is missing: s3_compatible has no address of its own");
  if (provider !== "azure" && account !== null)
    throw new CommandError("--account is for containers of Azure: --provider azure");
  if (provider !== "azure") return;
  if (account === null) throw new CommandError("--account is missing: it names the container's storage account");
  if (!ACCOUNT.test(account))
    throw new CommandError(`--account ${account}: a storage account has 3 to 24 lower-case letters and digits`);
  if (credentials === null)
    throw new CommandError("--credentials is missing: nothing reads a container of Azure without them");
}

function requireForeign(place: BucketPlace, own: OwnBucket): void {
  const isOwn =
    place.provider === "azure"
      ? own.container?.container === place.bucket && own.container.account === place.azureStorageAccountName
      : own.bucket?.bucket === place.bucket && (own.bucket.endpoint ?? null) === place.endpoint;
  if (isOwn) throw new CommandError(`${place.bucket} is this deployment's own bucket, into which it writes`);
}

async function findOrganization({ db }: CreateDeps, organization: string | undefined): Promise<string> {
  const where = organization === undefined ? {} : { OR: [{ id: organization }, { name: organization }] };
  const [found, another] = await db.prisma.organization.findMany({ where, take: 2, select: { id: true } });
  if (!found) throw new CommandError(`there is no organization "${organization}"`);
  if (another) throw new CommandError("there are several organizations: name one with --organization");
  return found.id;
}

async function requireReadable({ buckets }: CreateDeps, bucket: NamedPlace) {
  try {
    await (await buckets.connect(bucket)).check();
  } catch (error) {
    if (!(error instanceof BucketUnavailableError || error instanceof ConfigError)) throw error;
    throw new CommandError(`the bucket ${bucket.bucket} cannot be listed: ${error.message}`);
  }
}
