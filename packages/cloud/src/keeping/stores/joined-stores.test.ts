import assert from "node:assert/strict";
import { test } from "node:test";
import { BlobNotFoundError } from "../../store/blobs/blob-errors.ts";
import type { BlobReader, OpenOptions } from "../../store/blobs/blob-store.ts";
import type { OpenedStore } from "../../store/bucket-uploads/open-store.ts";
import { joinStores } from "./joined-stores.ts";

test("an object is opened with the options of the caller, in whichever store it is", async () => {
  const opened: unknown[] = [];
  const storeOf = (name: string, has: boolean) => {
    const open = async (key: string, options?: OpenOptions): Promise<BlobReader> => {
      opened.push([name, options]);
      if (!has) throw new BlobNotFoundError(key);
      return {} as BlobReader;
    };
    return { open } as OpenedStore;
  };
  const [source, target] = [storeOf("source", true), storeOf("target", false)];
  const options = { endBytes: 1000 };
  await joinStores(source, async () => undefined).open("org/upl", options);
  await joinStores(target, async () => ({ source, target, other: source })).open("org/upl", options);
  assert.deepEqual(opened, [
    ["source", options],
    ["target", options],
    ["source", options],
  ]);
});
