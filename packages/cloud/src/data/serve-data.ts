import { api } from "@downlink/protocol";
import type { Hono } from "hono";
import type { Env } from "../calls/connections/env.ts";
import type { Deps } from "../calls/context/context.ts";
import { storedFileRoute } from "../calls/data-plane/stored-file.ts";
import { serve } from "../calls/serve/serve.ts";
import { attachments } from "./attachments/attachments.ts";
import { attachmentDownloadRoute, attachmentRoute } from "./attachments/download-route.ts";
import { changesRoute } from "./changes/changes-route.ts";
import { coverage } from "./coverage/coverage.ts";
import { datasetVersions } from "./datasets/dataset-versions.ts";
import { datasets } from "./datasets/datasets.ts";
import { episodes } from "./episodes/episodes.ts";
import { exportRoute } from "./exports/export-route.ts";
import { exportLinks } from "./exports/exports.ts";
import { lakeFiles } from "./lake-files/lake-files.ts";
import { recordingFileRoute, recordingFiles } from "./recording-files/recording-files.ts";
import { importRequests } from "./recordings/import-requests.ts";
import { recordingCuts, recordings } from "./recordings/recordings.ts";
import { topics } from "./topics/topics.ts";
import { viewLinks, viewLinksAgain } from "./view-links/view-links.ts";
import { viewRoute } from "./view-links/view-route.ts";

/** Binds recordings, what is made of them, and the links to their data. */
export function serveData(app: Hono<Env>, deps: Deps): void {
  serve(app, deps, { contract: api.recordings, handlers: recordings });
  serve(app, deps, { contract: api.recordingCuts, handlers: recordingCuts });
  serve(app, deps, { contract: api.recordingFiles, handlers: recordingFiles });
  recordingFileRoute(app, deps);
  storedFileRoute(app, deps);
  serve(app, deps, { contract: api.importRequests, handlers: importRequests });
  serve(app, deps, { contract: api.attachments, handlers: attachments });
  attachmentRoute(app, deps);
  attachmentDownloadRoute(app, deps);
  serve(app, deps, { contract: api.lakeFiles, handlers: lakeFiles });
  serve(app, deps, { contract: api.exports, handlers: exportLinks });
  exportRoute(app, deps);
  serve(app, deps, { contract: api.viewLinks, handlers: viewLinks, agains: viewLinksAgain });
  viewRoute(app, deps);
  serve(app, deps, { contract: api.topics, handlers: topics });
  changesRoute(app, deps);
  serve(app, deps, { contract: api.coverage, handlers: coverage });
  serve(app, deps, { contract: api.episodes, handlers: episodes });
  serve(app, deps, { contract: api.datasets, handlers: datasets });
  serve(app, deps, { contract: api.datasetVersions, handlers: datasetVersions });
}
