import { createHash } from "node:crypto";

/** The variable that names the test run's bucket to the processes that it starts; without it objects are files. */
export const TEST_BUCKET_VARIABLE = "DOWNLINK_TEST_BUCKET";

/** A bucket of S3. Credentials are where the SDK looks for them: in the environment. */
export interface TestBucket {
  readonly kind: "s3";
  readonly endpoint: string;
  readonly bucket: string;
}

/** A container of Azure. */
export interface TestContainer {
  readonly kind: "azure";
  readonly account: string;
  readonly endpoint: string;
  readonly container: string;
  readonly accountKey: string;
}

/** One object, past the control plane. */
export interface TestObject {
  readonly key: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

export function findTestBucket(): TestBucket | TestContainer | undefined {
  const bucket = process.env[TEST_BUCKET_VARIABLE];
  return bucket === undefined ? undefined : (JSON.parse(bucket) as TestBucket | TestContainer);
}

/** Why a test of what only files are is skipped; false where objects are files. */
export function skipInBucket(): string | false {
  return findTestBucket() !== undefined && "NOT TESTED over a bucket: it looks at the files of the file store";
}

/** Returns the settings by which a control plane with this data folder keeps its objects where the run does. */
export function storeSettings(dataDir: string): Record<string, string> {
  const place = findTestBucket();
  if (!place) return {};
  if (place.kind === "azure")
    return {
      DOWNLINK_STORE: "azure",
      DOWNLINK_AZURE_ACCOUNT: place.account,
      DOWNLINK_AZURE_CONTAINER: place.container,
      DOWNLINK_AZURE_ENDPOINT: place.endpoint,
      DOWNLINK_AZURE_PREFIX: prefixOf(dataDir),
      AZURE_STORAGE_KEY: place.accountKey,
    };
  return {
    DOWNLINK_STORE: "s3",
    DOWNLINK_S3_BUCKET: place.bucket,
    DOWNLINK_S3_ENDPOINT: place.endpoint,
    DOWNLINK_S3_PREFIX: prefixOf(dataDir),
    DOWNLINK_S3_FORCE_PATH_STYLE: "true",
  };
}

/** A control plane that starts again on its data folder finds its objects; another one has a place of its own. */
export function prefixOf(dataDir: string): string {
  return `${createHash("sha256").update(dataDir).digest("hex").slice(0, 16)}/`;
}
