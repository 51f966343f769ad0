import { createHash } from "node:crypto";
import type { ContainerOptions } from "../blobs/azure/container.ts";
import type { BucketOptions } from "../blobs/s3/bucket.ts";

/** The bucket in which the operator keeps the objects. */
export type BucketSettings = Pick<
  BucketOptions,
  "bucket" | "endpoint" | "region" | "prefix" | "forcePathStyle" | "profile"
> & {
  /** Agents send their parts straight to the bucket. */
  readonly isDirect: boolean;
};

/** The container of Azure in which the operator keeps the objects. */
export type ContainerSettings = Pick<ContainerOptions, "account" | "container" | "endpoint" | "prefix">;

/** Where a store is, without its credentials, which are found in the environment. */
export type StoreAddress =
  | { readonly kind: "file"; readonly directory: string }
  | ({ readonly kind: "s3" } & BucketSettings)
  | ({ readonly kind: "azure" } & ContainerSettings);

/** Where a store is that is no folder. */
export type DistantAddress = Exclude<StoreAddress, { kind: "file" }>;

/** The settings that say where the objects are. */
export interface StoreSettings {
  /** The folder of the objects if they are files. */
  readonly objectsDir: string;
  /** The bucket of S3 that keeps them, or the container of Azure. Undefined both: they are files. */
  readonly bucket: BucketSettings | undefined;
  readonly container: ContainerSettings | undefined;
}

export function addressOf({ objectsDir, bucket, container }: StoreSettings): StoreAddress {
  if (container) return { kind: "azure", ...container };
  return bucket ? { kind: "s3", ...bucket } : { kind: "file", directory: objectsDir };
}

/** The name of a store, for operators; two addresses with the same name are the same store. */
export function nameStore(address: StoreAddress): string {
  if (address.kind === "file") return `file:${address.directory}`;
  const place =
    address.kind === "azure"
      ? `azure://${address.account}/${address.container}/${address.prefix}`
      : `s3://${address.bucket}/${address.prefix ?? ""}`;
  return address.endpoint === undefined ? place : `${place} at ${address.endpoint.replace(/\/+$/, "")}`;
}

/** The setting that chooses the bucket or container of a store, with what it chooses. */
export function settingOf(address: DistantAddress): { setting: string; noun: string; name: string } {
  return address.kind === "azure"
    ? { setting: "DOWNLINK_AZURE_CONTAINER", noun: "container", name: address.container }
    : { setting: "DOWNLINK_S3_BUCKET", noun: "bucket", name: address.bucket };
}

/** A short name, which Postgres shows with each process. */
export function shortNameOf(address: StoreAddress): string {
  return createHash("sha256").update(nameStore(address)).digest("hex").slice(0, 16);
}
