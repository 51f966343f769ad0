import { describeBlobStore } from "./blob-store.suite.ts";
import { serveFileStore } from "./testing/open-file-store.ts";

describeBlobStore("file store", () => serveFileStore());
describeBlobStore("file store without memory for parts", () => serveFileStore({ partMemoryBytes: 0 }));
