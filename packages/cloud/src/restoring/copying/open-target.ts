import { randomUUID } from "node:crypto";
import { type OpenedStore, openStore, probeStore, type StoreDeps } from "../../store/bucket-uploads/open-store.ts";
import { nameStore, type StoreAddress } from "../../store/bucket-uploads/store-address.ts";
import { CopyError } from "./copy-errors.ts";

/** Opens the new store. Throws a {@link CopyError} that says what it does not do, or does not allow. */
export async function openTarget(
  opened: AsyncDisposableStack,
  address: StoreAddress,
  deps: StoreDeps,
): Promise<OpenedStore> {
  try {
    const store = await openStore(opened, address, deps);
    const faults = address.kind === "file" ? [await probeFolder(store)] : await probeStore(address);
    const found = faults.filter((fault) => fault !== undefined);
    if (found.length > 0) throw new Error(found.join("; "));
    return store;
  } catch (error) {
    throw new CopyError(`${nameStore(address)} cannot be used: ${(error as Error).message}`);
  }
}

async function probeFolder(store: OpenedStore): Promise<string | undefined> {
  const [key, bytes] = [`probes/${randomUUID()}`, Buffer.from("Downlink looks whether it may use this folder.")];
  await store.putNote(key, bytes);
  await store.removeNote(key);
  return await store.check();
}
