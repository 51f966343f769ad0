import type { Deps } from "../../calls/context/context.ts";
import { BlobNotFoundError, BlobReplacedError } from "../../store/blobs/blob-errors.ts";
import { BucketUnavailableError } from "../../store/blobs/buckets/bucket-unavailable.ts";
import type { CustomerBucket } from "../../store/blobs/buckets/customer-bucket.ts";
import type { SiteWithPolicy } from "./site-with-policy.ts";

/** One of the things that a site needs of its bucket. */
export interface CheckedAccess {
  readonly access: "lists" | "reads" | "reads versions";
  /** Why it is not possible, with the permission that is missing where it is that; undefined: it was done. */
  readonly problem: string | undefined;
}

/** An object that goes while it is looked at proves nothing, and another one is tried. */
const MOST_TRIED = 5;

/**
 * Tries what the bucket of a site lets this process do, with one byte of one of its first objects; nothing is stored, here or there. It ends
 * with the first problem. A bucket that has no object with bytes only shows that it can be listed.
 */
export async function checkBucket(
  { buckets }: Pick<Deps, "buckets">,
  { bucket: place }: Pick<SiteWithPolicy, "bucket">,
): Promise<CheckedAccess[]> {
  const done: CheckedAccess[] = [];
  const state = { access: "lists" as CheckedAccess["access"] };
  try {
    const bucket = await buckets.connect(place);
    await bucket.check();
    const names = await firstNames(bucket);
    done.push({ access: "lists", problem: undefined });
    for (const name of names) {
      state.access = "reads";
      const found = await bucket.find(name);
      if (found?.versionId) state.access = "reads versions";
      if (!found || !(await isRead(bucket.open(name, name, found)))) continue;
      done.push({ access: state.access, problem: undefined });
      break;
    }
    return done;
  } catch (error) {
    if (!(error instanceof BucketUnavailableError)) throw error;
    return [...done, { ...state, problem: explain(state.access, error.message) }];
  }
}

async function firstNames(bucket: CustomerBucket): Promise<string[]> {
  const names: string[] = [];
  for await (const page of bucket.list("")) {
    names.push(...page.flatMap(({ name, sizeBytes }) => (sizeBytes > 0n ? [name] : [])));
    if (names.length >= MOST_TRIED) break;
  }
  return names.slice(0, MOST_TRIED);
}

/** Reads one byte. False: the object is gone, or is another one by now. */
async function isRead(reader: ReturnType<CustomerBucket["open"]>): Promise<boolean> {
  await using opened = reader;
  try {
    await opened.read(0, 1);
    return true;
  } catch (error) {
    if (error instanceof BlobNotFoundError || error instanceof BlobReplacedError) return false;
    throw error;
  }
}

/** S3 has a permission of its own for versions, of which the answer says nothing. */
function explain(access: CheckedAccess["access"], problem: string): string {
  return access === "reads versions" ? problem.replace(/s3:GetObject$/, "s3:GetObjectVersion") : problem;
}
