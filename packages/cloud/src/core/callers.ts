export interface ApiKeyCaller {
  readonly kind: "apiKey";
  readonly keyId: string;
  readonly orgId: string;
  readonly capabilities: readonly string[];
  /** The projects that the caller may see; an empty list stands for every project of the organization. */
  readonly projectIds: readonly string[];
  /** The time at which the key ends; null: never. */
  readonly expiresAtNs: bigint | null;
  /** There is no key: an operator calls at the command line. */
  readonly isCommandLine?: boolean;
  /** The session that was exchanged from the key, if it calls by one. */
  readonly sessionId?: string;
}

/** A member who signed in. The member's rights are read at each call. */
export interface MemberCaller {
  readonly kind: "member";
  readonly memberId: string;
  readonly accountId: string;
  readonly sessionId: string;
  /** A program has the session, so no person is there to approve something. */
  readonly isOfProgram: boolean;
  readonly role: "admin" | "user";
  readonly orgId: string;
  readonly capabilities: readonly string[];
  /** The projects that the caller may see; an empty list stands for every project of the organization. */
  readonly projectIds: readonly string[];
  /** Tokens that a member makes do not end with the member's session. */
  readonly expiresAtNs: null;
}

/** A caller that works with the data of an organization. */
export type PersonCaller = ApiKeyCaller | MemberCaller;

export interface AgentCaller {
  readonly kind: "agent";
  readonly tokenId: string;
  readonly orgId: string;
  /** The device's project; null at an edge site. */
  readonly projectId: string | null;
  /** An agent has either this or `siteId`. */
  readonly deviceId: string | null;
  readonly siteId: string | null;
  /** The lease that the call presented. */
  readonly lease: bigint | undefined;
}

/** An agent whose device token belongs to no device yet. */
export interface EnrolmentCaller {
  readonly kind: "enrolment";
  readonly tokenId: string;
  readonly orgId: string;
  readonly projectId: string;
  /** Whether the devices that it creates are enabled at once. */
  readonly preapproved: boolean;
}

/** The sender of notifications about changes in the bucket of a primary site. */
export interface InboxCaller {
  readonly kind: "inbox";
  readonly tokenId: string;
  readonly orgId: string;
  readonly siteId: string;
}

/** The process of a self-hosted site. */
export interface SiteCaller {
  readonly kind: "site";
  readonly tokenId: string;
  readonly orgId: string;
  readonly siteId: string;
  /** The lease that the call presented. */
  readonly lease: bigint | undefined;
}

/** The fields of a row that say who created it: the key or the member, and null for the other. spec: Behaviour 6 */
export function creatorOf(caller: PersonCaller) {
  return caller.kind === "apiKey"
    ? { creatorApiKeyId: caller.keyId, creatorOrgMemberId: null }
    : { creatorApiKeyId: null, creatorOrgMemberId: caller.memberId };
}

/** The id of the key or member. */
export function callerId(caller: PersonCaller): string {
  return caller.kind === "apiKey" ? caller.keyId : caller.memberId;
}

/** The claim of a link that says what it was made by: the session, or the key; it ends with that. */
export function makerClaim(caller: PersonCaller | undefined): { readonly by?: string } {
  if (!caller || (caller.kind === "apiKey" && caller.isCommandLine)) return {};
  return { by: caller.sessionId ?? (caller as ApiKeyCaller).keyId };
}

export type Caller = PersonCaller | AgentCaller | EnrolmentCaller | InboxCaller | SiteCaller;
