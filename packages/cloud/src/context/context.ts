import type { Operation } from "@downlink/protocol";
import type { Logger } from "pino";
import type { BlobStore } from "../blobs/blob-store.ts";
import type { LinkSigner } from "../blobs/signed-link.ts";
import type { AgentCaller, ApiKeyCaller, Caller, EnrolmentCaller } from "../core/callers.ts";
import type { Clock } from "../core/clock.ts";
import type { KeptCredentials } from "../credentials/kept-credentials.ts";
import type { TokenUses } from "../credentials/token-uses.ts";
import type { Database } from "../db/client.ts";
import type { FileIndexer } from "../indexing/file-indexer.ts";
import type { JobQueue } from "../jobs/queue.ts";
import type { CallRates } from "../limits/call-rates.ts";
import type { Network } from "../limits/client-address.ts";
import type { Limits } from "../limits/limits.ts";
import type { Turns } from "../limits/turns.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Admission } from "../polls/admission.ts";
import type { AgentPolls } from "../polls/agent-polls.ts";
import type { LeaseRenewals } from "../polls/lease-renewals.ts";

/** Everything that the verbs need from outside, made once by `deps.ts`. */
export interface Deps {
  readonly db: Database;
  readonly blobs: BlobStore;
  readonly indexer: FileIndexer;
  readonly signer: LinkSigner;
  readonly jobs: JobQueue;
  readonly polls: AgentPolls;
  readonly renewals: LeaseRenewals;
  readonly credentials: Pick<KeptCredentials, "find" | "forgetAll">;
  readonly tokenUses: TokenUses;
  /** Each lets in what a fleet brings along when it comes at once: an agent that was greeted does not stand in that line for its work. */
  readonly admission: { readonly hellos: Admission; readonly reads: Admission };
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Who holds it reads the metrics; undefined: who asks from this machine. */
  readonly metricsToken: string | undefined;
  /** The names of all that this version's database has had. */
  readonly migrations: readonly string[];
  /** What links are built from, without a slash at the end. Known once the server listens. */
  readonly publicUrl: () => string;
  /** Whose pages may use links. */
  readonly linkOrigins: readonly string[];
  /** A file stays on its device for so long after its import. */
  readonly deleteSafetySeconds: number;
  /** Exports read uncompressed chunks whole, also where few of their messages are wanted. */
  readonly readsWholeChunks: boolean;
  readonly limits: Limits;
  readonly rates: CallRates;
  readonly turns: Turns;
  /** Whose `X-Forwarded-For` counts. */
  readonly trustedProxies: readonly Network[];
  /** Aborted when the process was told to stop: what waits answers at once, and nothing new is taken. */
  readonly stopping: AbortSignal;
}

interface CallContext<C extends Caller> extends Deps {
  readonly caller: C;
  readonly requestId: string;
  /** Aborted when the caller goes away or the server stops. */
  readonly signal: AbortSignal;
}

export type Ctx = CallContext<ApiKeyCaller>;
export type AgentCtx = CallContext<AgentCaller> & {
  /** The cloud's, read when the work was done or later: the answer names it, and nobody asks for it once more. */
  noteIncarnation(incarnation: string): void;
};
export type EnrolmentCtx = CallContext<EnrolmentCaller>;

/** The context that an operation's handler receives, by who may call it. */
export type CtxOf<O extends Operation> = CtxByAccess[O["access"]["kind"]];

interface CtxByAccess {
  readonly apiKey: Ctx;
  readonly agent: AgentCtx;
  readonly enrolment: EnrolmentCtx;
}
