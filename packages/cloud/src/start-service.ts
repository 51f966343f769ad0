import type { Config } from "./config.ts";
import type { StopSteps } from "./core/stop-steps.ts";
import { startEmbeddedPostgres } from "./db/embedded-postgres.ts";
import { type OpenDeps, openDeps } from "./deps.ts";
import { requireRightStore } from "./keeping/stores/open-stores.ts";
import { keepMarks } from "./recovery/keep-marks.ts";
import { findLost } from "./restoring/replay/find-lost.ts";
import { type RunningServer, startHealthServer, startServer } from "./server.ts";
import { addressOf } from "./store/bucket-uploads/store-address.ts";
import { startWorker } from "./worker.ts";

/** The work of a process. */
export interface ServiceParts {
  readonly serves: boolean;
  readonly works: boolean;
}

interface Starting extends ServiceParts {
  readonly stopSteps: StopSteps;
}

export interface Service extends AsyncDisposable {
  readonly deps: OpenDeps;
  /** Undefined if it does not serve. */
  readonly server: RunningServer | undefined;
  /** Undefined if it serves, or if the operator chose no port for it. */
  readonly health: RunningServer | undefined;
}

/** Opens everything that a process needs; disposing closes it. If a part cannot be opened, the others are closed, so that it may be tried again. */
export async function startService(
  config: Config,
  log: OpenDeps["log"],
  { serves, works, stopSteps: steps }: Starting,
): Promise<Service> {
  await using opened = new AsyncDisposableStack();
  const deps = opened.use(await openDeps(config, log, { openPostgres: startEmbeddedPostgres, stopSteps: steps }));
  await requireRightStore(deps.db, deps.blobs, addressOf(config));
  const marks = await keepMarks({ ...deps, findLost: (sinceMs) => findLost(deps, sinceMs) });
  steps.use(opened, "the comparison of store and database", marks);
  const server = serves ? steps.use(opened, "calls", await startServer(config, deps)) : undefined;
  const health = serves ? undefined : await openHealth(config, deps);
  if (health) steps.use(opened, "the server of its health", health);
  if (works) steps.use(opened, "what is sent to webhooks", await startWorker(deps));
  const service = opened.move();
  return { deps, server, health, [Symbol.asyncDispose]: () => service.disposeAsync() };
}

async function openHealth({ workPort, ...config }: Config, deps: OpenDeps): Promise<RunningServer | undefined> {
  return workPort === undefined ? undefined : await startHealthServer({ ...config, workPort }, deps);
}
