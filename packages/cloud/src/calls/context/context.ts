import type { Operation } from "@downlink/protocol";
import type { Tracing } from "@downlink/tracing";
import type { Logger } from "pino";
import type { FileIndexer } from "../../background/indexing/file-indexer.ts";
import type { JobQueue } from "../../background/jobs/queue.ts";
import type {
  AgentCaller,
  Caller,
  EnrolmentCaller,
  InboxCaller,
  PersonCaller,
  SiteCaller,
} from "../../core/callers.ts";
import type { Clock } from "../../core/clock.ts";
import type { DeleteSafety } from "../../core/delete-safety.ts";
import type { LinkSigner } from "../../core/signed-link.ts";
import type { NamedViewer } from "../../core/viewers.ts";
import type { Database } from "../../db/client.ts";
import type { KeptCredentials } from "../../process/credentials/kept-credentials.ts";
import type { LinkMakers } from "../../process/credentials/link-makers.ts";
import type { TokenUses } from "../../process/credentials/token-uses.ts";
import type { IdentityProvider } from "../../process/identity-provider/identity-provider.ts";
import type { SignInSettings } from "../../process/identity-provider/sign-in-settings.ts";
import type { CallRates } from "../../process/limits/call-rates.ts";
import type { Network } from "../../process/limits/client-address.ts";
import type { Limits } from "../../process/limits/limits.ts";
import type { Turns } from "../../process/limits/turns.ts";
import type { OwnFolder } from "../../process/metrics/measure-room.ts";
import type { Metrics } from "../../process/metrics/metrics.ts";
import type { PublicFetch } from "../../process/outgoing/public-fetch.ts";
import type { Passwords } from "../../process/passwords/passwords.ts";
import type { Tries } from "../../process/passwords/tries.ts";
import type { Admission } from "../../process/polls/admission.ts";
import type { AgentPolls } from "../../process/polls/agent-polls.ts";
import type { LeaseRenewals } from "../../process/polls/lease-renewals.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type { CustomerBuckets } from "../../store/customer-buckets/open-buckets.ts";
import type { BodyThread } from "../bodies/body-thread.ts";

/** Everything that the verbs need from outside, created once by `deps.ts`. */
export interface Deps {
  readonly db: Database;
  readonly blobs: BlobStore;
  /** Reads customers' buckets; nothing is ever written there. */
  readonly buckets: CustomerBuckets;
  readonly indexer: FileIndexer;
  readonly bodies: BodyThread;
  readonly signer: LinkSigner;
  readonly jobs: JobQueue;
  readonly polls: AgentPolls;
  readonly renewals: LeaseRenewals;
  readonly credentials: Pick<KeptCredentials, "find" | "forgetAll">;
  readonly tokenUses: TokenUses;
  /** Two separate lines for a fleet that comes back at once: an agent that was greeted does not wait behind others' hellos for its work. */
  readonly admission: { readonly hellos: Admission; readonly reads: Admission };
  readonly clock: Clock;
  /** Reads an address of the public internet, which a message from outside may have named. */
  readonly fetchPublic: PublicFetch;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  /** The token that reads the metrics; undefined: only requests from this machine read them. */
  readonly metricsToken: string | undefined;
  /** Where people report a fault of security, as `mailto:` or `https:`; undefined: nothing is said of it. */
  readonly securityContact: string | undefined;
  /** The folder with a release of the agent that robots install; undefined: they get none here. */
  readonly agentPackages: string | undefined;
  /** The names of all migrations that the database of this version has had. */
  readonly migrations: readonly string[];
  /** The folders on disks of this machine that grow: of objects and database, where they are here. */
  readonly folders: readonly OwnFolder[];
  /** Returns the address that links are built from, without a slash at the end. It is known once the server listens. */
  readonly publicUrl: () => string;
  /** Answers a call of which {@link publicUrl} is this origin, unless the operator chose one. */
  readonly withOrigin: <T>(origin: string, answer: () => T) => T;
  /** Where the built web pages are; undefined where none are served. */
  readonly consoleFolder: string | undefined;
  /** Where the built documentation is, or will be; undefined where none is served. */
  readonly guideFolder: string | undefined;
  /** The origins whose pages may use links. */
  readonly linkOrigins: readonly string[];
  /** The viewers in which links can be opened. */
  readonly viewers: readonly NamedViewer[];
  /** The keys and sessions by which links were made: a link ends with its own. */
  readonly linkMakers: LinkMakers;
  /** The origins whose pages may call the API with a token. */
  readonly apiOrigins: readonly string[];
  readonly deleteSafety: DeleteSafety;
  /** How old the last reading of stored bytes may be when a device may delete its copy, in seconds. */
  readonly deleteProofAgeSeconds: number;
  /** In so many days the whole store is read once; 0: it is not read by itself. */
  readonly scrubDays: number;
  /** When a worker makes a backup by itself, as cron; undefined: never. */
  readonly backupSchedule: string | undefined;
  /** How old the oldest backup may be that is ever restored. */
  readonly backupRetentionSeconds: number;
  /** How long entries of the audit log are kept. */
  readonly auditRetentionSeconds: number;
  /** How long an object stays after it is not needed any more. */
  readonly removalDelaySeconds: number;
  /** Exports read uncompressed chunks whole, even if few of their messages are wanted. */
  readonly readsWholeChunks: boolean;
  readonly limits: Limits;
  /** How often customers' buckets are listed; 0: only on request. */
  readonly listBucketsSeconds: number;
  readonly rates: CallRates;
  readonly turns: Turns;
  readonly passwords: Passwords;
  readonly signIns: Omit<SignInSettings, "provider"> & { readonly provider: IdentityProvider | undefined };
  /** Counts the sign-ins of programs that an address began, and the wrong codes that a member typed. */
  readonly deviceCodeTries: Tries;
  /** The networks beside the public internet that webhooks may lead to. */
  readonly webhookNetworks: readonly Network[];
  /** The networks of proxies whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly Network[];
  /** Aborted when the process was told to stop: waiting calls then answer at once, and no new work is taken. */
  readonly stopping: AbortSignal;
}

interface CallContext<C extends Caller> extends Deps {
  readonly caller: C;
  readonly requestId: string;
  /** The tag that the thing must have for a change; undefined: any. */
  readonly ifMatch?: string | undefined;
  /** Returns the address that the call came from; of IPv6 the /64. */
  address(): string;
  /** Returns a signal that is aborted when the caller goes away before it was answered. */
  goneSignal(): AbortSignal;
  /** Says whether the caller went away or the server was told to stop: long work ends then. */
  isInterrupted(): boolean;
}

export type Ctx = CallContext<PersonCaller>;
export type AgentCtx = CallContext<AgentCaller> & {
  /** Notes the cloud's incarnation, read when the work was done or later, so that the answer can name it without another query. */
  noteIncarnation(incarnation: string): void;
};
export type EnrolmentCtx = CallContext<EnrolmentCaller>;
export type InboxCtx = CallContext<InboxCaller>;
export type SiteCtx = CallContext<SiteCaller>;

/** The context that an operation's handler receives, by who may call it. */
export type CtxOf<O extends Operation> = CtxByAccess[O["access"]["kind"]];

interface CtxByAccess {
  readonly apiKey: Ctx;
  readonly person: Ctx;
  readonly agent: AgentCtx;
  readonly enrolment: EnrolmentCtx;
  readonly inbox: InboxCtx;
  readonly site: SiteCtx;
  /** Only the processes of self-hosted sites serve such operations. */
  readonly upload: never;
}
