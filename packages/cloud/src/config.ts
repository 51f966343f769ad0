import { resolve } from "node:path";
import { z } from "zod";

const Port = z.coerce.number().int().min(0).max(65535);

const secondsIn: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3600, d: 86_400 };

/** `0`, `30min`, `25h`, `2d`; in seconds. */
const Duration = z
  .string()
  .regex(/^(0|\d{1,6}(s|min|h|d))$/, "must be 0 or a duration such as 30min, 25h or 2d")
  .transform((text) => Number.parseInt(text, 10) * (secondsIn[text.replace(/^\d+/, "")] ?? 0));

const Environment = z.object({
  DOWNLINK_HOST: z.string().default("127.0.0.1"),
  DOWNLINK_PORT: Port.default(8080),
  DOWNLINK_PUBLIC_URL: z.url().optional(),
  DOWNLINK_DATA_DIR: z.string().min(1).default("./.data"),
  DATABASE_URL: z.string().min(1).optional(),
  DOWNLINK_ADMIN_KEY: z.string().min(32, "must have at least 32 characters").optional(),
  DOWNLINK_SIGNING_KEY: z.string().min(32, "must have at least 32 characters").optional(),
  DOWNLINK_DELETE_SAFETY: Duration.default(0),
  DOWNLINK_EXPORT_WHOLE_CHUNKS: z.enum(["true", "false"]).default("false"),
  DOWNLINK_LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "silent"]).default("info"),
});

/** What the operator decided. The environment is read here and nowhere else. */
export interface Config {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** What links are built from; undefined: the address that is listened on. */
  readonly publicUrl: string | undefined;
  readonly dataDir: string;
  /** Undefined: the embedded Postgres under `dataDir`. */
  readonly databaseUrl: string | undefined;
  readonly adminKey: string | undefined;
  readonly signingKey: string | undefined;
  /** How long imported files stay on the device at least, when they are deleted because they were imported. At least as long as between two backups. */
  readonly deleteSafetySeconds: number;
  /** Exports read uncompressed chunks whole and compare their checksums, also where few of their messages are wanted. */
  readonly exportsWholeChunks: boolean;
  readonly logLevel: string;
}

/** Throws a {@link ConfigError} that names every setting that is wrong. */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  const parsed = Environment.safeParse(given);
  if (!parsed.success)
    throw new ConfigError(parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`));
  const settings = parsed.data;
  return {
    host: settings.DOWNLINK_HOST,
    port: settings.DOWNLINK_PORT,
    publicUrl: settings.DOWNLINK_PUBLIC_URL?.replace(/\/+$/, ""),
    dataDir: resolve(settings.DOWNLINK_DATA_DIR),
    databaseUrl: settings.DATABASE_URL,
    adminKey: settings.DOWNLINK_ADMIN_KEY,
    signingKey: settings.DOWNLINK_SIGNING_KEY,
    deleteSafetySeconds: settings.DOWNLINK_DELETE_SAFETY,
    exportsWholeChunks: settings.DOWNLINK_EXPORT_WHOLE_CHUNKS === "true",
    logLevel: settings.DOWNLINK_LOG_LEVEL,
  };
}

export class ConfigError extends Error {
  constructor(problems: string[]) {
    super(`the configuration is wrong:\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
    this.name = "ConfigError";
  }
}
