import { resolve } from "node:path";
import { parseDurationMs } from "@downlink/protocol";
import { z } from "zod";
import type { BucketSettings } from "./bucket-uploads/open-store.ts";
import { ConfigError } from "./core/config-error.ts";
import { type Network, parseNetworks } from "./limits/client-address.ts";
import { defaultLimits, type Limits } from "./limits/limits.ts";

const Port = z.coerce.number().int().min(0).max(65535);

const MAX_DURATION_MS = 999_999 * 86_400_000;

/** `0`, `30min`, `25h`, `2d`; in seconds. */
const Duration = z.string().transform((text, context) => {
  const ms = text === "0" ? 0 : parseDurationMs(text);
  if (ms !== undefined && ms % 1000 === 0 && ms <= MAX_DURATION_MS) return ms / 1000;
  context.addIssue("must be 0 or a duration such as 30min, 25h or 2d");
  return z.NEVER;
});

const Networks = z.string().transform((text, context) => {
  try {
    return parseNetworks(text);
  } catch (error) {
    context.addIssue((error as Error).message);
    return z.NEVER;
  }
});

/** Origins are written as browsers send them in `Origin`; `*` is every one. */
const Origins = z
  .string()
  .transform((text) => text.split(",").map((origin) => origin.trim()))
  .refine((origins) => origins.every(isOrigin), "must be origins such as https://console.example.org, or *");

/** Folders, each with a slash behind it. */
const Prefix = z.string().regex(/^([\w.-]+\/)*$/, "must be empty, or folders that end with a slash, such as downlink/");

const Environment = z.object({
  DOWNLINK_HOST: z.string().default("127.0.0.1"),
  DOWNLINK_PORT: Port.default(8080),
  DOWNLINK_WORK_PORT: Port.optional(),
  DOWNLINK_PUBLIC_URL: z.url().optional(),
  DOWNLINK_LINK_ORIGINS: Origins.default([]),
  DOWNLINK_DATA_DIR: z.string().min(1).default("./.data"),
  DOWNLINK_STORE: z.enum(["file", "s3"]).default("file"),
  DOWNLINK_S3_BUCKET: z.string().optional(),
  DOWNLINK_S3_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  DOWNLINK_S3_REGION: z.string().optional(),
  DOWNLINK_S3_PREFIX: Prefix.optional(),
  DOWNLINK_S3_FORCE_PATH_STYLE: z.enum(["true", "false"]).optional(),
  DOWNLINK_S3_DIRECT_PARTS: z.enum(["true", "false"]).optional(),
  DATABASE_URL: z.string().min(1).optional(),
  DOWNLINK_ADMIN_KEY: z.string().min(32, "must have at least 32 characters").optional(),
  DOWNLINK_SIGNING_KEY: z.string().min(32, "must have at least 32 characters").optional(),
  DOWNLINK_DELETE_SAFETY: Duration.default(0),
  DOWNLINK_EXPORT_WHOLE_CHUNKS: z.enum(["true", "false"]).default("false"),
  DOWNLINK_TRUSTED_PROXIES: Networks.default([]),
  DOWNLINK_MAX_CONNECTIONS: z.coerce.number().int().min(10).default(defaultLimits.connections.most),
  DOWNLINK_METRICS_TOKEN: z.string().min(16, "must have at least 16 characters").optional(),
  DOWNLINK_DRAIN: Duration.default(0),
  DOWNLINK_GRACE: Duration.default(8),
  DOWNLINK_RATE_LIMIT: z.coerce.number().int().min(60).default(defaultLimits.rates.callsPerMinute),
  DOWNLINK_LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "silent"]).default("info"),
});

const Settings = Environment.superRefine((settings, context) => {
  const complain = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
  const isS3 = settings.DOWNLINK_STORE === "s3";
  if (isS3 && settings.DOWNLINK_S3_BUCKET === undefined)
    complain("DOWNLINK_S3_BUCKET", "is missing; DOWNLINK_STORE=s3 keeps the objects there");
  for (const [name, value] of Object.entries(settings))
    if (!isS3 && name.startsWith("DOWNLINK_S3_") && value !== undefined)
      complain(name, "is for DOWNLINK_STORE=s3 only");
});

/** What the operator decided. The environment is read here and nowhere else. */
export interface Config {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** The port on which a process that only works on jobs answers for its health; 0 takes a free one, undefined: nowhere. */
  readonly workPort: number | undefined;
  /** What links are built from; undefined: the address that is listened on. */
  readonly publicUrl: string | undefined;
  /** Whose pages may use links. */
  readonly linkOrigins: readonly string[];
  readonly dataDir: string;
  /** Where the objects are kept; undefined: as files under `dataDir`. */
  readonly bucket: BucketSettings | undefined;
  /** Undefined: the embedded Postgres under `dataDir`. */
  readonly databaseUrl: string | undefined;
  readonly adminKey: string | undefined;
  readonly signingKey: string | undefined;
  /** How long imported files stay on the device at least, when they are deleted because they were imported. At least as long as between two backups. */
  readonly deleteSafetySeconds: number;
  /** Exports read uncompressed chunks whole and compare their checksums, also where few of their messages are wanted. */
  readonly exportsWholeChunks: boolean;
  /** Whose `X-Forwarded-For` counts. */
  readonly trustedProxies: readonly Network[];
  readonly limits: Limits;
  /** Who holds it reads the metrics; undefined: who asks from this machine. */
  readonly metricsToken: string | undefined;
  /** How long calls are taken after the process was told to stop: until a load balancer has looked at `/readyz`. */
  readonly drainSeconds: number;
  /** How long what is under way may take to end after that, before it is cut. */
  readonly graceSeconds: number;
  readonly logLevel: string;
}

/** Throws a {@link ConfigError} that names every setting that is wrong. */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  const parsed = Settings.safeParse(given);
  if (!parsed.success)
    throw new ConfigError(parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`));
  const settings = parsed.data;
  return {
    host: settings.DOWNLINK_HOST,
    port: settings.DOWNLINK_PORT,
    workPort: settings.DOWNLINK_WORK_PORT,
    publicUrl: settings.DOWNLINK_PUBLIC_URL?.replace(/\/+$/, ""),
    linkOrigins: settings.DOWNLINK_LINK_ORIGINS,
    dataDir: resolve(settings.DOWNLINK_DATA_DIR),
    bucket: bucketOf(settings),
    databaseUrl: settings.DATABASE_URL,
    adminKey: settings.DOWNLINK_ADMIN_KEY,
    signingKey: settings.DOWNLINK_SIGNING_KEY,
    deleteSafetySeconds: settings.DOWNLINK_DELETE_SAFETY,
    exportsWholeChunks: settings.DOWNLINK_EXPORT_WHOLE_CHUNKS === "true",
    trustedProxies: settings.DOWNLINK_TRUSTED_PROXIES,
    limits: {
      ...defaultLimits,
      connections: { ...defaultLimits.connections, most: settings.DOWNLINK_MAX_CONNECTIONS },
      rates: { ...defaultLimits.rates, callsPerMinute: settings.DOWNLINK_RATE_LIMIT },
    },
    metricsToken: settings.DOWNLINK_METRICS_TOKEN,
    drainSeconds: settings.DOWNLINK_DRAIN,
    graceSeconds: settings.DOWNLINK_GRACE,
    logLevel: settings.DOWNLINK_LOG_LEVEL,
  };
}

function bucketOf(settings: z.infer<typeof Environment>): BucketSettings | undefined {
  if (settings.DOWNLINK_STORE === "file") return undefined;
  return {
    bucket: settings.DOWNLINK_S3_BUCKET!,
    endpoint: settings.DOWNLINK_S3_ENDPOINT,
    region: settings.DOWNLINK_S3_REGION ?? "us-east-1",
    prefix: settings.DOWNLINK_S3_PREFIX ?? "",
    forcePathStyle: settings.DOWNLINK_S3_FORCE_PATH_STYLE === "true",
    isDirect: settings.DOWNLINK_S3_DIRECT_PARTS === "true",
  };
}

function isOrigin(text: string): boolean {
  return text === "*" || (URL.canParse(text) && new URL(text).origin === text);
}
