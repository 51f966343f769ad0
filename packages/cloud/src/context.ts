import type { Operation } from "@downlink/protocol";
import type { Logger } from "pino";
import type { BlobStore } from "./blobs/blob-store.ts";
import type { LinkSigner } from "./blobs/signed-link.ts";
import type { Database } from "./db/client.ts";
import type { Admission } from "./edge/admission.ts";
import type { AgentPolls } from "./edge/agent-polls.ts";
import type { LeaseRenewals } from "./edge/lease-renewals.ts";
import type { CallRates } from "./http/call-rates.ts";
import type { Network } from "./http/client-address.ts";
import type { Turns } from "./http/turns.ts";
import type { FileIndexer } from "./indexing/file-indexer.ts";
import type { JobQueue } from "./jobs/queue.ts";
import type { Limits } from "./limits.ts";
import type { Metrics } from "./metrics/metrics.ts";
import type { KeptCredentials } from "./tokens/kept-credentials.ts";
import type { TokenUses } from "./tokens/token-uses.ts";

export interface Clock {
  /** Nanoseconds since the epoch. */
  nowNs(): bigint;
}

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
  /** For how long after its import a file stays on its device. */
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

export interface ApiKeyCaller {
  readonly kind: "apiKey";
  readonly keyId: string;
  readonly orgId: string;
  readonly capabilities: readonly string[];
  /** Empty: every project of the organization. */
  readonly projectIds: readonly string[];
  /** When its key ends; null: never. */
  readonly expiresAtNs: bigint | null;
}

export interface AgentCaller {
  readonly kind: "agent";
  readonly tokenId: string;
  readonly orgId: string;
  /** The device's; null at a site. */
  readonly projectId: string | null;
  /** Either this or `siteId`. */
  readonly deviceId: string | null;
  readonly siteId: string | null;
  /** The lease that the call presented. */
  readonly lease: bigint | undefined;
}

/** Somebody with a device token that belongs to no device yet. */
export interface EnrolmentCaller {
  readonly kind: "enrolment";
  readonly tokenId: string;
  readonly orgId: string;
  readonly projectId: string;
  /** Whether the devices that it creates are enabled at once. */
  readonly preapproved: boolean;
}

export type Caller = ApiKeyCaller | AgentCaller | EnrolmentCaller;

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
