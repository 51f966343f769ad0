import { join, resolve } from "node:path";
import { explainIssue, parseDurationMs } from "@downlink/protocol";
import { readTraceSettings, type TraceSettings } from "@downlink/tracing";
import { z } from "zod";
import { ConfigError } from "./core/config-error.ts";
import type { DeleteSafety } from "./core/delete-safety.ts";
import { nearestName } from "./core/nearest-name.ts";
import { type NamedViewer, originOf, Viewers } from "./core/viewers.ts";
import { findAddressFault } from "./db/postgres-address.ts";
import { type BackupSettings, backupSettingsOf, backupShape, judgeBackups } from "./keeping/backup/backup-settings.ts";
import type { LogFormat } from "./log.ts";
import {
  judgeSignIn,
  type SignInSettings,
  signInOf,
  signInShape,
} from "./process/identity-provider/sign-in-settings.ts";
import { type Network, parseNetworks } from "./process/limits/client-address.ts";
import { defaultLimits, type Limits } from "./process/limits/limits.ts";
import { type AzureAccess, AzureCredentialError, readAccess } from "./store/blobs/azure/credential.ts";
import type { BucketSettings, ContainerSettings } from "./store/bucket-uploads/store-address.ts";
import { credentialsOf, type FindCredentials } from "./store/customer-buckets/bucket-credentials.ts";

const Port = z.coerce.number().int().min(0).max(65535);

const DEFAULT_BACKUP_RETENTION_SECONDS = 30 * 86_400;
const DEFAULT_AUDIT_RETENTION_SECONDS = 400 * 86_400;
const DEFAULT_PROOF_AGE_SECONDS = 7 * 86_400;
const DEFAULT_LIST_BUCKETS_SECONDS = 3600;
const MAX_DURATION_MS = 999_999 * 86_400_000;

/** A duration is written as `0`, `30min`, `25h` or `2d`, and is read as seconds. */
const Duration = z.string().transform((text, context) => {
  const ms = text === "0" ? 0 : parseDurationMs(text);
  if (ms !== undefined && ms % 1000 === 0 && ms <= MAX_DURATION_MS) return ms / 1000;
  context.addIssue("must be 0 or a duration such as 30min, 25h or 2d");
  return z.NEVER;
});

/** `backup`, or how long. */
const Safety = z.union([z.literal("backup"), Duration], "must be backup, 0 or a duration such as 30min, 25h or 2d");

const Networks = z.string().transform((text, context) => {
  try {
    return parseNetworks(text);
  } catch (error) {
    context.addIssue((error as Error).message);
    return z.NEVER;
  }
});

/** An origin is written as browsers send it in `Origin`; `*` stands for every origin. */
const Origins = z
  .string()
  .transform((text) => text.split(",").map((origin) => origin.trim()))
  .refine((origins) => origins.every(isOrigin), "must be origins such as https://console.example.org, or *");

/** As security.txt names it: an address of e-mail or of a page. */
const SecurityContact = z
  .string()
  .regex(
    /^(mailto:[!-?A-~]+@[!-?A-~]+|https:\/\/[!-~]+)$/,
    "must be an address such as mailto:security@example.org or https://example.org/security",
  );

const DatabaseAddress = z.string().superRefine((text, context) => {
  const fault = findAddressFault(text);
  if (fault !== undefined) context.addIssue(fault);
});

/** A prefix is a path of folders, each followed by a slash. */
const Prefix = z.string().regex(/^([\w.-]+\/)*$/, "must be empty, or folders that end with a slash, such as downlink/");

/** As Azure wants the names of storage accounts and of containers. */
const ACCOUNT = /^[a-z0-9]{3,24}$/;
const CONTAINER = /^(?=.{3,63}$)[a-z0-9]+(-[a-z0-9]+)*$/;

const Environment = z.object({
  DOWNLINK_HOST: z.string().default("127.0.0.1"),
  DOWNLINK_PORT: Port.default(8080),
  DOWNLINK_WORK_PORT: Port.optional(),
  DOWNLINK_PUBLIC_URL: z.url().optional(),
  DOWNLINK_SECURITY_CONTACT: SecurityContact.optional(),
  DOWNLINK_AGENT_PACKAGES: z.string().min(1).optional(),
  DOWNLINK_CONSOLE: z.enum(["on", "off"]).default("on"),
  DOWNLINK_LINK_ORIGINS: Origins.default([]),
  DOWNLINK_VIEWERS: Viewers.default([]),
  DOWNLINK_API_ORIGINS: Origins.default([]),
  DOWNLINK_DATA_DIR: z.string().min(1).default("./.data"),
  DOWNLINK_OBJECTS_DIR: z.string().min(1).optional(),
  DOWNLINK_INBOX_DIR: z.string().min(1).optional(),
  DOWNLINK_STORE: z.enum(["file", "s3", "azure"]).default("file"),
  DOWNLINK_S3_BUCKET: z.string().optional(),
  DOWNLINK_S3_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  DOWNLINK_S3_REGION: z.string().optional(),
  DOWNLINK_S3_PREFIX: Prefix.optional(),
  DOWNLINK_S3_INBOX_BUCKET: z.string().optional(),
  DOWNLINK_S3_INBOX_PREFIX: Prefix.optional(),
  DOWNLINK_S3_PROFILE: z.string().optional(),
  DOWNLINK_S3_FORCE_PATH_STYLE: z.enum(["true", "false"]).optional(),
  DOWNLINK_S3_DIRECT_PARTS: z.enum(["true", "false"]).optional(),
  DOWNLINK_AZURE_ACCOUNT: z.string().regex(ACCOUNT, "must have 3 to 24 lower-case letters and digits").optional(),
  DOWNLINK_AZURE_CONTAINER: z
    .string()
    .regex(CONTAINER, "must have 3 to 63 lower-case letters, digits and single hyphens between them")
    .optional(),
  DOWNLINK_AZURE_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  DOWNLINK_AZURE_PREFIX: Prefix.optional(),
  ...signInShape,
  DATABASE_URL: DatabaseAddress.optional(),
  DOWNLINK_ADMIN_KEY: z.string().min(32, "must have at least 32 characters").optional(),
  DOWNLINK_SIGNING_KEY: z.string().min(32, "must have at least 32 characters").optional(),
  DOWNLINK_DELETE_SAFETY: Safety.optional(),
  DOWNLINK_DELETE_PROOF_AGE: Duration.refine((seconds) => seconds >= 3600, "must be at least an hour").default(
    DEFAULT_PROOF_AGE_SECONDS,
  ),
  DOWNLINK_SCRUB_DAYS: z.coerce.number().int().min(0).max(3650).default(30),
  ...backupShape,
  DOWNLINK_BACKUP_RETENTION: Duration.optional(),
  DOWNLINK_AUDIT_RETENTION: Duration.default(DEFAULT_AUDIT_RETENTION_SECONDS),
  DOWNLINK_EXPORT_WHOLE_CHUNKS: z.enum(["true", "false"]).default("false"),
  DOWNLINK_TRUSTED_PROXIES: Networks.default([]),
  DOWNLINK_WEBHOOK_NETWORKS: Networks.default([]),
  DOWNLINK_MAX_CONNECTIONS: z.coerce.number().int().min(10).default(defaultLimits.connections.most),
  DOWNLINK_METRICS_TOKEN: z.string().min(16, "must have at least 16 characters").optional(),
  DOWNLINK_LIST_BUCKETS: Duration.default(DEFAULT_LIST_BUCKETS_SECONDS),
  DOWNLINK_DRAIN: Duration.default(0),
  DOWNLINK_GRACE: Duration.default(8),
  DOWNLINK_RATE_LIMIT: z.coerce.number().int().min(60).default(defaultLimits.rates.callsPerMinute),
  DOWNLINK_LOG_FORMAT: z.enum(["auto", "text", "json"]).default("auto"),
  DOWNLINK_LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "silent"]).default("info"),
});

/** The names of all settings. */
export const settingNames: readonly string[] = [...Object.keys(Environment.shape), "DOWNLINK_SITE_TOKEN"];

/** With what the settings begin that are for one kind of store. */
const STORE_SETTINGS = {
  file: "DOWNLINK_OBJECTS_DIR",
  s3: "DOWNLINK_S3_",
  azure: "DOWNLINK_AZURE_",
};

const Settings = Environment.superRefine((settings, context) => {
  const complain = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
  const { DOWNLINK_STORE: chosen, DOWNLINK_S3_BUCKET: bucket, DOWNLINK_AZURE_CONTAINER: container } = settings;
  if (chosen === "s3" && bucket === undefined)
    complain("DOWNLINK_S3_BUCKET", "is missing; DOWNLINK_STORE=s3 keeps the objects there");
  if (chosen === "azure" && container === undefined)
    complain("DOWNLINK_AZURE_CONTAINER", "is missing; DOWNLINK_STORE=azure keeps the objects there");
  for (const [name, value] of Object.entries(settings))
    for (const [kind, beginning] of Object.entries(STORE_SETTINGS))
      if (kind !== chosen && name.startsWith(beginning) && value !== undefined)
        complain(name, `is for DOWNLINK_STORE=${kind} only`);
  judgeSignIn(settings, complain);
  judgeBackups(settings, complain);
});

/** The settings that only a control plane has. */
const NOT_FOR_SITES = [
  "DOWNLINK_VIEWERS",
  "DATABASE_URL",
  "DOWNLINK_ADMIN_KEY",
  "DOWNLINK_SIGNING_KEY",
  "DOWNLINK_WORK_PORT",
  "DOWNLINK_BACKUP_SCHEDULE",
  "DOWNLINK_SECURITY_CONTACT",
  "DOWNLINK_AGENT_PACKAGES",
] as const;

/** The settings that the operator chose. Only this file reads the environment. */
export interface Config {
  readonly host: string;
  /** The port to listen on; 0 takes a free one. */
  readonly port: number;
  /** The port on which a process that only works on jobs answers for its health. 0 takes a free one; undefined: it does not listen. */
  readonly workPort: number | undefined;
  /** The address that links are built from; undefined: the address that is listened on. */
  readonly publicUrl: string | undefined;
  /** Where people report a fault of security, as `mailto:` or `https:`; undefined: nothing is said of it. */
  readonly securityContact: string | undefined;
  /** The folder with a release of the agent that robots install; undefined: they get none here. */
  readonly agentPackages: string | undefined;
  /** The origins whose pages may use links. */
  readonly servesConsole: boolean;
  /** Those of the viewers are among them. */
  readonly linkOrigins: readonly string[];
  readonly viewers: readonly NamedViewer[];
  /** The origins whose pages may call the API with a token. */
  readonly apiOrigins: readonly string[];
  readonly dataDir: string;
  /** The folder of the objects, unless a bucket keeps them. */
  readonly objectsDir: string;
  /** The bucket of S3 that keeps the objects, or the container of Azure; undefined both: they are files. */
  readonly bucket: BucketSettings | undefined;
  readonly container: ContainerSettings | undefined;
  /** Finds the credentials for a customer's bucket by their name. */
  readonly findCredentials: FindCredentials;
  /** The Postgres to connect to; undefined: the embedded one under `dataDir`. */
  readonly databaseUrl: string | undefined;
  readonly adminKey: string | undefined;
  readonly signingKey: string | undefined;
  readonly signIn: SignInSettings;
  /** The condition for deleting a file on its device because it was imported. */
  readonly deleteSafety: DeleteSafety;
  /** How old the last reading of stored bytes may be when a device may delete its copy; older ones are read again before. */
  readonly deleteProofAgeSeconds: number;
  /** In so many days the whole store is read once; 0: it is not read by itself. */
  readonly scrubDays: number;
  /** How often each customer's bucket is listed, for what no notification said; 0: only on request. */
  readonly listBucketsSeconds: number;
  /** The backups that are made by themselves, and their place. */
  readonly backups: BackupSettings;
  /** How old the oldest backup may be that is ever restored: the ledger is kept as long. */
  readonly backupRetentionSeconds: number;
  /** How long entries of the audit log are kept. */
  readonly auditRetentionSeconds: number;
  /** How long an object stays once it is not needed any more: as long as the oldest backup, if the operator says that there are backups. */
  readonly removalDelaySeconds: number;
  /** Exports read uncompressed chunks whole and compare their checksums, even if few of their messages are wanted. */
  readonly exportsWholeChunks: boolean;
  /** The networks beside the public internet that webhooks may lead to. */
  readonly webhookNetworks: readonly Network[];
  /** The networks of proxies whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly Network[];
  readonly limits: Limits;
  /** The token that reads the metrics; undefined: only requests from this machine read them. */
  readonly metricsToken: string | undefined;
  /** How long calls are still taken after the process was told to stop, so that a load balancer can see `/readyz` fail. */
  readonly drainSeconds: number;
  /** How long running calls and jobs may take to end after that, before they are cut off. */
  readonly graceSeconds: number;
  readonly logLevel: string;
  /** `auto`: text on a terminal, else JSON. */
  readonly logFormat: LogFormat;
  /** Sentences about variables that look like misspelt settings. */
  readonly misspelt: readonly string[];
  /** Where traces go; undefined: nothing is traced. */
  readonly tracing: TraceSettings | undefined;
}

/** Returns the name by which sentences call the database: an operator who set no address must not look for a mistake in one. */
export function nameDatabase({ DATABASE_URL: address }: NodeJS.ProcessEnv): string {
  return address ? "the database of DATABASE_URL" : "Downlink's own Postgres";
}

/** Reads the settings. Throws a {@link ConfigError} that names every setting that is wrong. */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  const parsed = Settings.safeParse(given, { error: explainIssue });
  if (!parsed.success)
    throw new ConfigError(parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`));
  const settings = parsed.data;
  return {
    host: settings.DOWNLINK_HOST,
    port: settings.DOWNLINK_PORT,
    workPort: settings.DOWNLINK_WORK_PORT,
    publicUrl: settings.DOWNLINK_PUBLIC_URL?.replace(/\/+$/, ""),
    securityContact: settings.DOWNLINK_SECURITY_CONTACT,
    agentPackages: settings.DOWNLINK_AGENT_PACKAGES && resolve(settings.DOWNLINK_AGENT_PACKAGES),
    servesConsole: settings.DOWNLINK_CONSOLE === "on",
    ...pagesOf(settings),
    apiOrigins: settings.DOWNLINK_API_ORIGINS,
    dataDir: resolve(settings.DOWNLINK_DATA_DIR),
    objectsDir: resolve(settings.DOWNLINK_OBJECTS_DIR ?? join(settings.DOWNLINK_DATA_DIR, "objects")),
    bucket: bucketOf(settings),
    container: containerOf(settings, environment),
    findCredentials: credentialsOf(environment),
    listBucketsSeconds: settings.DOWNLINK_LIST_BUCKETS,
    databaseUrl: settings.DATABASE_URL,
    adminKey: settings.DOWNLINK_ADMIN_KEY,
    signingKey: settings.DOWNLINK_SIGNING_KEY,
    signIn: signInOf(settings),
    ...keepingOf(settings),
    backups: backupSettingsOf(settings),
    exportsWholeChunks: settings.DOWNLINK_EXPORT_WHOLE_CHUNKS === "true",
    trustedProxies: settings.DOWNLINK_TRUSTED_PROXIES,
    webhookNetworks: settings.DOWNLINK_WEBHOOK_NETWORKS,
    limits: limitsOf(settings),
    metricsToken: settings.DOWNLINK_METRICS_TOKEN,
    drainSeconds: settings.DOWNLINK_DRAIN,
    graceSeconds: settings.DOWNLINK_GRACE,
    logLevel: settings.DOWNLINK_LOG_LEVEL,
    logFormat: settings.DOWNLINK_LOG_FORMAT,
    misspelt: findMisspelt(given),
    tracing: tracingOf(environment),
  };
}

type Keeping =
  | "deleteSafety"
  | "deleteProofAgeSeconds"
  | "scrubDays"
  | "backupRetentionSeconds"
  | "auditRetentionSeconds";

/** Reads how long what is kept, and what must be proven before something is deleted. */
function keepingOf(settings: z.output<typeof Settings>): Pick<Config, Keeping | "removalDelaySeconds"> {
  return {
    deleteSafety: settings.DOWNLINK_DELETE_SAFETY ?? defaultSafetyOf(settings),
    deleteProofAgeSeconds: settings.DOWNLINK_DELETE_PROOF_AGE,
    scrubDays: settings.DOWNLINK_SCRUB_DAYS,
    backupRetentionSeconds: settings.DOWNLINK_BACKUP_RETENTION ?? DEFAULT_BACKUP_RETENTION_SECONDS,
    auditRetentionSeconds: settings.DOWNLINK_AUDIT_RETENTION,
    removalDelaySeconds: settings.DOWNLINK_BACKUP_RETENTION ?? 0,
  };
}

/** A viewer that the operator named may read links, too. */
function pagesOf({ DOWNLINK_LINK_ORIGINS, DOWNLINK_VIEWERS: viewers }: z.infer<typeof Environment>) {
  return { viewers, linkOrigins: [...new Set([...DOWNLINK_LINK_ORIGINS, ...viewers.map(originOf)])] };
}

/** An operator who chose a schedule wants devices to wait for the first backup. */
function defaultSafetyOf({ DOWNLINK_BACKUP_SCHEDULE: schedule }: z.infer<typeof Environment>): DeleteSafety {
  return schedule === undefined ? "backupIfAny" : "backup";
}

function limitsOf(settings: z.infer<typeof Environment>): Limits {
  return {
    ...defaultLimits,
    connections: { ...defaultLimits.connections, most: settings.DOWNLINK_MAX_CONNECTIONS },
    rates: { ...defaultLimits.rates, callsPerMinute: settings.DOWNLINK_RATE_LIMIT },
  };
}

/** A variable that begins like a setting, and is near to one. Others may be for other programs, such as the agent. */
function findMisspelt(given: NodeJS.ProcessEnv): string[] {
  const known = settingNames.map((name) => name.replace(/^DOWNLINK_/, ""));
  return Object.keys(given).flatMap((name) => {
    if (!name.startsWith("DOWNLINK_") || settingNames.includes(name)) return [];
    const nearest = nearestName(name.slice("DOWNLINK_".length), known);
    return nearest === undefined
      ? []
      : [`${name} is not a setting and has no effect; did you mean DOWNLINK_${nearest}?`];
  });
}

export interface SiteConfig extends Config {
  /** The token of the site, unless a file or flag has it. */
  readonly siteToken: string | undefined;
  /** The folder whose files are imported; undefined: there is none. */
  readonly inboxDir: string | undefined;
  /** The bucket, and the beginning of the names in it, whose objects are imported; undefined: there are none. */
  readonly inboxBucket: BucketSettings | undefined;
}

/** Reads the settings of the process of a self-hosted site. Throws a {@link ConfigError} for what it cannot do. */
export function readSiteConfig({ DOWNLINK_SITE_TOKEN, ...environment }: NodeJS.ProcessEnv): SiteConfig {
  const inbox = environment.DOWNLINK_INBOX_DIR;
  const config = readConfig(environment);
  const complaints: string[] = NOT_FOR_SITES.filter((name) => environment[name]).map(
    (name) => `${name}: is a setting of the control plane; downlink site has no use for it`,
  );
  if (config.bucket?.isDirect)
    complaints.push("DOWNLINK_S3_DIRECT_PARTS: is for control planes only; parts for a site go through the site");
  const inboxDir = inbox ? resolve(inbox) : undefined;
  const inboxBucket = inboxBucketOf(environment, config.bucket);
  complaints.push(...judgeInboxes({ ...config, inboxDir, inboxBucket }));
  if (complaints.length > 0) throw new ConfigError(complaints);
  return { ...config, siteToken: DOWNLINK_SITE_TOKEN || undefined, inboxDir, inboxBucket };
}

interface Inboxes extends Pick<SiteConfig, "bucket" | "inboxDir" | "inboxBucket"> {}

/** The objects of the site are no files of its inbox, and the other way round. */
function* judgeInboxes({ bucket, inboxDir, inboxBucket }: Inboxes): Generator<string> {
  if (!bucket || !inboxBucket) return;
  if (inboxDir !== undefined) yield "DOWNLINK_INBOX_DIR: a site has one inbox; leave this or DOWNLINK_S3_INBOX_… out";
  const [own, inbox] = [bucket.prefix, inboxBucket.prefix];
  if (bucket.bucket === inboxBucket.bucket && (inbox.startsWith(own) || own.startsWith(inbox)))
    yield "DOWNLINK_S3_INBOX_PREFIX: must be beside DOWNLINK_S3_PREFIX, such as inbox/ beside downlink/, and not in or around it";
}

function inboxBucketOf(environment: NodeJS.ProcessEnv, bucket: BucketSettings | undefined): BucketSettings | undefined {
  const { DOWNLINK_S3_INBOX_BUCKET: name, DOWNLINK_S3_INBOX_PREFIX: prefix } = environment;
  if (!bucket || (!name && !prefix)) return undefined;
  return { ...bucket, bucket: name || bucket.bucket, prefix: prefix ?? "" };
}

function bucketOf(settings: z.infer<typeof Environment>): BucketSettings | undefined {
  if (settings.DOWNLINK_STORE !== "s3") return undefined;
  return {
    bucket: settings.DOWNLINK_S3_BUCKET!,
    endpoint: settings.DOWNLINK_S3_ENDPOINT,
    region: settings.DOWNLINK_S3_REGION ?? "us-east-1",
    prefix: settings.DOWNLINK_S3_PREFIX ?? "",
    profile: settings.DOWNLINK_S3_PROFILE,
    forcePathStyle: settings.DOWNLINK_S3_FORCE_PATH_STYLE === "true",
    isDirect: settings.DOWNLINK_S3_DIRECT_PARTS === "true",
  };
}

/** The secret stays in the environment, where `store/blobs/azure/credential.ts` finds it again. */
function containerOf(
  settings: z.infer<typeof Environment>,
  environment: NodeJS.ProcessEnv,
): ContainerSettings | undefined {
  if (settings.DOWNLINK_STORE !== "azure") return undefined;
  const { account: connected, endpoint } = readAzureAccess(environment);
  const account = settings.DOWNLINK_AZURE_ACCOUNT ?? connected;
  if (account === undefined)
    throw new ConfigError(["DOWNLINK_AZURE_ACCOUNT: is missing; it names the storage account of the container"]);
  if (connected !== undefined && connected !== account)
    throw new ConfigError([
      `DOWNLINK_AZURE_ACCOUNT: is ${account}, and AZURE_STORAGE_CONNECTION_STRING is of the account ${connected}`,
    ]);
  const address = (settings.DOWNLINK_AZURE_ENDPOINT ?? endpoint)?.replace(/\/+$/, "");
  return {
    account,
    container: settings.DOWNLINK_AZURE_CONTAINER!,
    // A store has the same name whether or not the settings name the public cloud.
    endpoint: address === `https://${account}.blob.core.windows.net` ? undefined : address,
    prefix: settings.DOWNLINK_AZURE_PREFIX ?? "",
  };
}

function readAzureAccess(environment: NodeJS.ProcessEnv): AzureAccess {
  try {
    return readAccess(environment);
  } catch (error) {
    throw error instanceof AzureCredentialError ? new ConfigError([`${error.variable}: ${error.reason}`]) : error;
  }
}

function tracingOf(environment: NodeJS.ProcessEnv): TraceSettings | undefined {
  try {
    return readTraceSettings(environment, "downlink");
  } catch (error) {
    throw error instanceof RangeError ? new ConfigError([error.message]) : error;
  }
}

function isOrigin(text: string): boolean {
  return text === "*" || (URL.canParse(text) && new URL(text).origin === text);
}
