import { findTestBucket, prefixOf, type TestObject } from "./test-store.ts";

/** The objects that the control plane with a data folder has stored in the bucket or container of the test run. */
export interface TestObjects {
  readObjects(): Promise<TestObject[]>;
  writeObject(key: string, bytes: Uint8Array): Promise<void>;
  removeObjects(): Promise<void>;
  /** Copies all to a place beside them, or back. */
  copyAway(): Promise<void>;
  copyBack(): Promise<void>;
}

/** Returns undefined where objects are files. Only a run over a bucket loads what speaks with one. */
export async function findTestObjects(dataDir: string): Promise<TestObjects | undefined> {
  const place = findTestBucket();
  if (!place) return undefined;
  const prefix = prefixOf(dataDir);
  const copy = `copy-of-${prefix}`;
  if (place.kind === "azure") {
    const calls = await import("../store/bucket-uploads/testing/container-objects.ts");
    return bound(calls, place, { prefix, copy });
  }
  return bound(await import("../store/bucket-uploads/testing/bucket-objects.ts"), place, { prefix, copy });
}

interface Calls<Place> {
  readObjects(place: Place, prefix: string): Promise<TestObject[]>;
  writeObject(place: Place, key: string, bytes: Uint8Array): Promise<void>;
  removeObjects(place: Place, prefix: string): Promise<void>;
  copyObjects(place: Place, from: string, to: string): Promise<void>;
}

function bound<Place>(
  calls: Calls<Place>,
  place: Place,
  { prefix, copy }: { readonly prefix: string; readonly copy: string },
): TestObjects {
  return {
    readObjects: () => calls.readObjects(place, prefix),
    writeObject: (key, bytes) => calls.writeObject(place, prefix + key, bytes),
    removeObjects: () => calls.removeObjects(place, prefix),
    copyAway: () => calls.copyObjects(place, prefix, copy),
    copyBack: () => calls.copyObjects(place, copy, prefix),
  };
}
