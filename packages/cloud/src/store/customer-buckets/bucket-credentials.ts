import { ConfigError } from "../../core/config-error.ts";
import { type AzureCredential, AzureCredentialError, readKey, readSas } from "../blobs/azure/credential.ts";
import type { BucketCredentials } from "../blobs/s3/customer-bucket.ts";

/** Finds the credentials of a name in the environment. */
export interface FindCredentials {
  /** Throws a {@link ConfigError} if the environment has only a part of them. */
  ofBucket(name: string): BucketCredentials;
  /** Throws an {@link AzureCredentialError} if the environment has none, or not exactly one. */
  ofContainer(name: string): AzureCredential;
}

export function credentialsOf(environment: NodeJS.ProcessEnv): FindCredentials {
  return {
    ofBucket: (name) => readBucketCredentials(environment, name),
    ofContainer: (name) => readContainerCredential(environment, name),
  };
}

/**
 * Reads the credentials of a name from the environment: for `plant-7` these are `DOWNLINK_BUCKET_PLANT_7_ACCESS_KEY_ID`,
 * `…_SECRET_ACCESS_KEY` and, where they are temporary, `…_SESSION_TOKEN`. Without them it is a profile.
 */
function readBucketCredentials(environment: NodeJS.ProcessEnv, name: string): BucketCredentials {
  const prefix = variablePrefixOf(name);
  const [idName, secretName] = [`${prefix}_ACCESS_KEY_ID`, `${prefix}_SECRET_ACCESS_KEY`];
  const accessKeyId = environment[idName] || undefined;
  const secretAccessKey = environment[secretName] || undefined;
  if (accessKeyId === undefined && secretAccessKey === undefined) return { profile: name };
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    const missing = accessKeyId === undefined ? idName : secretName;
    throw new ConfigError([`${missing}: is missing for the credentials "${name}"`]);
  }
  const sessionToken = environment[`${prefix}_SESSION_TOKEN`];
  return { credentials: { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) } };
}

/** For `plant-7` this is `DOWNLINK_BUCKET_PLANT_7_SAS_TOKEN`, or `…_ACCOUNT_KEY`. */
function readContainerCredential(environment: NodeJS.ProcessEnv, name: string): AzureCredential {
  const prefix = variablePrefixOf(name);
  const [sasName, keyName] = [`${prefix}_SAS_TOKEN`, `${prefix}_ACCOUNT_KEY`];
  const sasToken = environment[sasName]?.trim();
  const accountKey = environment[keyName]?.trim();
  if (sasToken && accountKey)
    throw new AzureCredentialError(keyName, `is set beside ${sasName}; only one of them may be`);
  if (sasToken) return readSas(sasName, sasToken);
  if (accountKey) return readKey(keyName, accountKey);
  throw new AzureCredentialError(sasName, `is missing for the credentials "${name}", and so is ${keyName}`);
}

export function variablePrefixOf(name: string): string {
  return `DOWNLINK_BUCKET_${name.toUpperCase().replace(/[^A-Z0-9]/g, "_")}`;
}
