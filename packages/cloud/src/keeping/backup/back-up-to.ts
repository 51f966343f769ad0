import { join } from "node:path";
import { readTextIfThere } from "../../store/blobs/durable-file.ts";
import { filesOf } from "../../store/blobs/file-layout.ts";
import { type StoreSettings, addressOf as storeAddressOf } from "../../store/bucket-uploads/store-address.ts";
import type { BackupSettings } from "./backup-settings.ts";
import { type BackupDeps, type BackupOptions, makeBackup } from "./make-backup.ts";
import { openPlace, type PlaceAddress } from "./open-place.ts";

/** The settings of the deployment that say where its data is, and where its backups are. */
export interface Whereabouts extends StoreSettings {
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  readonly backups: BackupSettings;
}

interface BackingUp extends Pick<BackupOptions, "databaseUrl" | "keep" | "signal" | "nowMs" | "write" | "warn"> {
  readonly to: string;
  readonly address: PlaceAddress;
}

/** Makes a backup of a deployment into a place, as {@link makeBackup} does. */
export async function backUpTo(
  deps: BackupDeps,
  { dataDir, bucket, ...store }: Whereabouts,
  { to, address, ...options }: BackingUp,
): Promise<boolean> {
  const objects = storeAddressOf({ bucket, ...store });
  using folder = await openPlace(to, bucket, address);
  return await makeBackup(deps, {
    ...options,
    folder,
    fileOf: objects.kind === "file" ? (key) => filesOf(objects.directory, key).object : undefined,
    proofDir: join(dataDir, "backup-proof"),
    adminKey: await readTextIfThere(join(dataDir, "admin.key")),
  });
}
