import {
  CopyObjectCommand,
  DeleteObjectCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { type McapSpec, makeMcap } from "@downlink/recordings/testing";
import { type Ceph, runCeph } from "../../../store/bucket-uploads/testing/run-ceph.ts";
import { proxyS3, type S3Proxy } from "../../../store/bucket-uploads/testing/s3-proxy.ts";
import { startCloud, type TestCloud } from "../../../testing/start-cloud.ts";
import { type SiteActions, siteActions } from "./site-actions.ts";
import { type SiteOwner, storeBucketSite } from "./store-bucket-site.ts";

export interface Customer {
  readonly cloud: TestCloud;
  readonly ceph: Ceph;
  /** Between the cloud and the bucket, and not between the customer and the bucket. */
  readonly proxy: S3Proxy;
  makeSite(options?: SiteOptions): Promise<CustomerSite>;
}

interface SiteOptions extends SiteOwner {
  readonly isVersioned?: boolean;
  readonly prefix?: string;
  /** A bucket that another site has already; by default a new one. */
  readonly bucket?: string;
}

export interface CustomerSite extends SiteActions {
  readonly siteId: string;
  readonly bucket: string;
  put(name: string, bytes: Uint8Array, metadata?: Record<string, string>): Promise<void>;
  remove(name: string, versionId?: string): Promise<void>;
  move(from: string, to: string): Promise<void>;
}

/** Starts a control plane beside the S3 of a customer, who lets it read and list and nothing else. */
export async function startCustomer(t: { after(close: () => Promise<void>): void }): Promise<Customer> {
  const stack = new AsyncDisposableStack();
  t.after(() => stack.disposeAsync());
  const ceph = stack.use(await runCeph());
  const proxy = stack.use(await proxyS3(ceph.endpoint));
  const cloud = await startCloud(t, {
    environment: {
      DOWNLINK_BUCKET_PLANT_ACCESS_KEY_ID: ceph.reader.accessKeyId,
      DOWNLINK_BUCKET_PLANT_SECRET_ACCESS_KEY: ceph.reader.secretAccessKey,
      DOWNLINK_LIST_BUCKETS: "0",
    },
  });
  const access = { endpoint: ceph.endpoint, region: "us-east-1", forcePathStyle: true };
  const client = new S3Client({ ...access, credentials: ceph.owner });
  stack.defer(() => client.destroy());
  return { cloud, ceph, proxy, makeSite: (options) => makeSite({ cloud, ceph, proxy, client }, options) };
}

type Parts = Omit<Customer, "makeSite"> & { readonly client: S3Client };

async function makeSite(
  parts: Parts,
  { isVersioned = false, prefix = "", bucket: shared, ...owner }: SiteOptions = {},
): Promise<CustomerSite> {
  const { cloud, ceph, proxy, client } = parts;
  const bucket = shared ?? (await ceph.makeBucket());
  if (shared === undefined) await ceph.letRead(bucket);
  const versioning = { Bucket: bucket, VersioningConfiguration: { Status: "Enabled" } } as const;
  if (isVersioned) await client.send(new PutBucketVersioningCommand(versioning));
  const place = { bucket, prefix, endpoint: proxy.endpoint, credentials: "plant" };
  const { id: siteId, orgId } = await storeBucketSite(cloud, place, owner);
  return { siteId, bucket, ...objectsOf(client, bucket), ...siteActions(cloud, { orgId, siteId, bucket }) };
}

const SECOND = 1_000_000_000n;
let minute = 0n;

/** Makes a recording that no other test of the file has; the file itself says whose it is. */
export async function anotherMcap(
  identity: Readonly<Record<string, string>> = {},
  more: McapSpec = {},
): Promise<Uint8Array> {
  minute += 60n;
  const metadata = Object.keys(identity).length > 0 ? [{ name: "downlink", metadata: { ...identity } }] : [];
  return makeMcap({ startNs: (1_760_000_000n + minute) * SECOND, durationSeconds: 1, metadata, ...more });
}

function objectsOf(client: S3Client, Bucket: string) {
  return {
    async put(Key: string, Body: Uint8Array, Metadata: Record<string, string> = {}) {
      await client.send(new PutObjectCommand({ Bucket, Key, Body, Metadata }));
    },
    async remove(Key: string, VersionId?: string) {
      await client.send(new DeleteObjectCommand({ Bucket, Key, ...(VersionId !== undefined && { VersionId }) }));
    },
    async move(from: string, to: string) {
      const CopySource = `${Bucket}/${encodeURIComponent(from)}`;
      await client.send(new CopyObjectCommand({ Bucket, CopySource, Key: to }));
      await client.send(new DeleteObjectCommand({ Bucket, Key: from }));
    },
  };
}
