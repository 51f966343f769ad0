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
