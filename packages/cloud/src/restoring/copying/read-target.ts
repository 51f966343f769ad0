import { resolve } from "node:path";
import type { StoreAddress, StoreSettings } from "../../store/bucket-uploads/store-address.ts";
import { CopyError } from "./copy-errors.ts";

/** Where the bucket or the container of `--to` is, unless it is where the deployment's own is. */
export interface BucketFlags {
  readonly s3Endpoint?: string;
  readonly s3Region?: string;
  readonly s3PathStyle?: boolean;
  readonly s3Profile?: string;
  readonly azureEndpoint?: string;
}

type Place = Readonly<Record<string, string | undefined>>;
type Own = Pick<StoreSettings, "bucket" | "container">;

const PLACES = [
  /^file:(?<directory>.+)$/,
  /^s3:\/\/(?<bucket>[^/]+)\/?(?<prefix>.*)$/,
  /^azure:\/\/(?<account>[a-z0-9]{3,24})\/(?<container>[a-z0-9-]{3,63})\/?(?<prefix>.*)$/,
];

/** Reads `file:/folder`, `s3://bucket/prefix` or `azure://account/container/prefix`. */
export function readTarget(text: string, flags: BucketFlags, own: Own): StoreAddress {
  const place: Place = PLACES.map((each) => each.exec(text)?.groups).find((groups) => groups !== undefined) ?? {};
  if (place.directory !== undefined) return { kind: "file", directory: resolve(place.directory) };
  if (place.bucket !== undefined) return toBucketAddress(place.bucket, place, { flags, own });
  if (place.container !== undefined) return toContainerAddress(place, { flags, own });
  throw new CopyError(`${text} is neither file:/folder nor s3://bucket/prefix nor azure://account/container/prefix`);
}

interface Known {
  readonly flags: BucketFlags;
  readonly own: Own;
}

function toBucketAddress(bucket: string, { prefix }: Place, { flags, own }: Known): StoreAddress {
  const endpoint = flags.s3Endpoint ?? own.bucket?.endpoint;
  const profile = flags.s3Profile ?? own.bucket?.profile;
  return {
    ...{ kind: "s3", bucket, isDirect: false },
    prefix: folderOf(prefix),
    region: flags.s3Region ?? own.bucket?.region ?? "us-east-1",
    forcePathStyle: flags.s3PathStyle ?? own.bucket?.forcePathStyle ?? false,
    ...(endpoint !== undefined && { endpoint }),
    ...(profile !== undefined && { profile }),
  };
}

/** Another account is not where the own one is. */
function toContainerAddress({ account, container, prefix }: Place, { flags, own }: Known): StoreAddress {
  const endpoint = flags.azureEndpoint ?? (own.container?.account === account ? own.container?.endpoint : undefined);
  return {
    ...{ kind: "azure", account: account!, container: container! },
    prefix: folderOf(prefix),
    ...(endpoint !== undefined && { endpoint }),
  };
}

function folderOf(prefix = ""): string {
  return prefix === "" || prefix.endsWith("/") ? prefix : `${prefix}/`;
}

/** The settings that name a store, a line each. */
export function settingsOf(address: StoreAddress): string[] {
  if (address.kind === "file") return ["DOWNLINK_STORE=file", `DOWNLINK_OBJECTS_DIR=${address.directory}`];
  if (address.kind === "azure")
    return [
      "DOWNLINK_STORE=azure",
      `DOWNLINK_AZURE_ACCOUNT=${address.account}`,
      `DOWNLINK_AZURE_CONTAINER=${address.container}`,
      `DOWNLINK_AZURE_PREFIX=${address.prefix}`,
      ...(address.endpoint === undefined ? [] : [`DOWNLINK_AZURE_ENDPOINT=${address.endpoint}`]),
    ];
  return [
    "DOWNLINK_STORE=s3",
    `DOWNLINK_S3_BUCKET=${address.bucket}`,
    `DOWNLINK_S3_PREFIX=${address.prefix}`,
    `DOWNLINK_S3_REGION=${address.region}`,
    ...(address.endpoint === undefined ? [] : [`DOWNLINK_S3_ENDPOINT=${address.endpoint}`]),
    ...(address.forcePathStyle ? ["DOWNLINK_S3_FORCE_PATH_STYLE=true"] : []),
    ...(address.profile === undefined ? [] : [`DOWNLINK_S3_PROFILE=${address.profile}`]),
  ];
}
