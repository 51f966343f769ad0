import { PutBucketPolicyCommand, S3Client } from "@aws-sdk/client-s3";
import type { Ceph } from "./run-ceph.ts";

/** The permissions that the store needs in a bucket. */
export const permissions = [
  "s3:PutObject",
  "s3:GetObject",
  "s3:DeleteObject",
  "s3:ListBucket",
  "s3:ListMultipartUploadParts",
  "s3:ListBucketMultipartUploads",
  "s3:AbortMultipartUpload",
];

interface Policy {
  /** The permission that the reader does not have; undefined: it has all. */
  readonly missing?: string;
  /** The owner may not touch the objects. */
  readonly isClosedToOwner?: boolean;
}

/** Lets Ceph's second user into a bucket of its first one. */
export async function allowReader(
  ceph: Ceph,
  bucket: string,
  { missing, isClosedToOwner = false }: Policy = {},
): Promise<void> {
  const { endpoint, owner } = ceph;
  const client = new S3Client({ endpoint, region: "us-east-1", forcePathStyle: true, credentials: owner });
  const Resource = [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`];
  const user = (name: string) => ({ AWS: [`arn:aws:iam:::user/${name}`] });
  const Statement = [
    { Effect: "Allow", Principal: user("reader"), Action: permissions, Resource },
    ...(missing === undefined ? [] : [{ Effect: "Deny", Principal: user("reader"), Action: missing, Resource }]),
    ...(isClosedToOwner ? [{ Effect: "Deny", Principal: user("ci"), Action: permissions, Resource: Resource[1] }] : []),
  ];
  const Policy = JSON.stringify({ Version: "2012-10-17", Statement });
  await client.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy }));
  client.destroy();
}
