// The settings say which ways of signing in are on. A provider's settings without the word `oidc`, or the word without them, stop the start:
// neither way is ever on by accident.

import { Email } from "@downlink/protocol";
import { z } from "zod";

export interface ProviderSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined: the client is public, and PKCE alone proves it. */
  readonly clientSecret: string | undefined;
}

export interface SignInSettings {
  readonly takesPasswords: boolean;
  /** The provider of OpenID Connect that is trusted to say whose an e-mail address is; undefined: there is none. */
  readonly provider: ProviderSettings | undefined;
  /** A person with a verified address in one of these domains becomes a user of the first organization. In lower case. */
  readonly allowedDomains: readonly string[];
  /** The person with this address becomes the admin of the first organization while it has no member. In lower case. */
  readonly adminEmail: string | undefined;
}

const WAYS = ["passwords", "oidc"];

const splitList = (text: string) => text.split(",").map((one) => one.trim().toLowerCase());

export const signInShape = {
  DOWNLINK_SIGN_IN: z
    .string()
    .default("passwords")
    .transform(splitList)
    .refine((ways) => ways.every((way) => WAYS.includes(way)), "must be passwords, oidc or passwords,oidc"),
  DOWNLINK_OIDC_ISSUER: z
    .url({ protocol: /^https?$/ })
    .refine(isProtected, "must begin with https: unless it is on this machine")
    .optional(),
  DOWNLINK_OIDC_CLIENT_ID: z.string().optional(),
  DOWNLINK_OIDC_CLIENT_SECRET: z.string().optional(),
  DOWNLINK_OIDC_DOMAINS: z
    .string()
    .transform(splitList)
    .refine((domains) => domains.every((domain) => /^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(domain)), "must be domains")
    .optional(),
  DOWNLINK_ADMIN_EMAIL: Email.optional(),
};

type Read = z.output<z.ZodObject<typeof signInShape>>;

const NEEDED = ["DOWNLINK_OIDC_ISSUER", "DOWNLINK_OIDC_CLIENT_ID"] as const;
const OF_PROVIDER = [
  ...NEEDED,
  "DOWNLINK_OIDC_CLIENT_SECRET",
  "DOWNLINK_OIDC_DOMAINS",
  "DOWNLINK_ADMIN_EMAIL",
] as const;

/** Calls `complain` for each of these settings that does not fit the others. */
export function judgeSignIn(read: Read, complain: (name: string, message: string) => void): void {
  const usesProvider = read.DOWNLINK_SIGN_IN.includes("oidc");
  for (const name of usesProvider ? NEEDED : [])
    if (read[name] === undefined) complain(name, "is missing; DOWNLINK_SIGN_IN has oidc");
  for (const name of usesProvider ? [] : OF_PROVIDER)
    if (read[name] !== undefined) complain(name, "is only for a DOWNLINK_SIGN_IN with oidc");
}

export function signInOf(read: Read): SignInSettings {
  const { DOWNLINK_OIDC_ISSUER: issuer, DOWNLINK_OIDC_CLIENT_ID: clientId } = read;
  const hasProvider = issuer !== undefined && clientId !== undefined;
  return {
    takesPasswords: read.DOWNLINK_SIGN_IN.includes("passwords"),
    provider: hasProvider ? { issuer, clientId, clientSecret: read.DOWNLINK_OIDC_CLIENT_SECRET } : undefined,
    allowedDomains: read.DOWNLINK_OIDC_DOMAINS ?? [],
    adminEmail: read.DOWNLINK_ADMIN_EMAIL,
  };
}

/** Over plain http, any machine in between could say who signs in; within one machine there is none in between. */
function isProtected(issuer: string): boolean {
  if (!URL.canParse(issuer)) return false;
  const { protocol, hostname } = new URL(issuer);
  return protocol === "https:" || ["127.0.0.1", "[::1]", "localhost"].includes(hostname);
}
