import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { firstCases } from "@downlink/recordings/testing";
import { copyPromises, describeCopy } from "./copy-store.suite.ts";

const root = await mkdtemp(join(tmpdir(), "downlink-copy-"));
after(() => rm(root, { recursive: true }));
const newFolder = async () => ({ kind: "file", directory: await mkdtemp(join(root, "store-")) }) as const;

describeCopy("from files to files", {
  openPlaces: async () => ({ source: await newFolder(), newTarget: newFolder }),
  promises: firstCases(6, copyPromises),
});
