import { coverage } from "./coverage.ts";
import { deviceTokens } from "./device-tokens.ts";
import { devices } from "./devices.ts";
import { edge } from "./edge.ts";
import { edgeFiles } from "./edge-files.ts";
import { exportLinks } from "./exports.ts";
import { pendingImports } from "./pending-imports.ts";
import { projects } from "./projects.ts";
import { recordings } from "./recordings.ts";
import { topics } from "./topics.ts";
import { uploads } from "./uploads.ts";

/** The table of contents of the service. */
export const api = {
  projects,
  devices,
  deviceTokens,
  recordings,
  pendingImports,
  edgeFiles,
  uploads,
  exports: exportLinks,
  topics,
  coverage,
  edge,
} as const;
