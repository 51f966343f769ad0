import { writeFile } from "node:fs/promises";
import type { Azurite } from "../../../store/bucket-uploads/testing/run-azurite.ts";
import type { Credentials } from "../../../store/bucket-uploads/testing/run-ceph.ts";

/** Puts credentials where the SDK looks for them in this process. */
export function useCredentials({ accessKeyId, secretAccessKey }: Credentials): void {
  process.env.AWS_ACCESS_KEY_ID = accessKeyId;
  process.env.AWS_SECRET_ACCESS_KEY = secretAccessKey;
}

/** Puts the key of an account of Azure where a store looks for it. */
export function useAccountKey({ accountKey }: Pick<Azurite, "accountKey">): void {
  process.env.AZURE_STORAGE_KEY = accountKey;
}

/** Puts the credentials of each profile into a file, and none into the environment. */
export async function useProfiles(path: string, profiles: Readonly<Record<string, Credentials>>): Promise<void> {
  const sections = Object.entries(profiles).map(
    ([name, { accessKeyId, secretAccessKey }]) =>
      `[${name}]\naws_access_key_id = ${accessKeyId}\naws_secret_access_key = ${secretAccessKey}\n`,
  );
  await writeFile(path, sections.join(""));
  process.env.AWS_SHARED_CREDENTIALS_FILE = path;
  delete process.env.AWS_ACCESS_KEY_ID;
  delete process.env.AWS_SECRET_ACCESS_KEY;
}
