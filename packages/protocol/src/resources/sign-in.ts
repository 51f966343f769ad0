import { z } from "zod";
import { ErrorBody } from "../operations/errors.ts";
import { TypedEmail } from "../shapes/email.ts";
import { StorableText } from "../shapes/text.ts";
import { Timestamp } from "../shapes/time.ts";
import { MemberRole, Password } from "./members.ts";

/** The body of `POST /v1/session`: an e-mail address with its password, or an API key. */
export const SignIn = z.object({
  email: TypedEmail.optional(),
  password: StorableText.min(1).max(1000).optional(),
  organization: StorableText.optional().meta({ description: "Its id, where the account is a member of several" }),
  apiKey: StorableText.max(1000)
    .optional()
    .meta({ description: "The session has exactly its rights, and ends with it" }),
});

/** The body of `POST /v1/session/invitation`. */
export const AcceptInvitation = z.object({
  token: StorableText.max(200).meta({ description: "From the link, behind #" }),
  name: StorableText.trim().min(1).max(200).optional(),
  password: Password.meta({ description: "A new one; of an account that exists, its own" }),
  separate: z.boolean().default(false).meta({
    description:
      "An account with the address exists, and is not the caller's: make another one, with a new password. If the password is that of one, that one joins",
  }),
});

/** The body and the answer of `POST /v1/session/invitation/look`. */
export const LookAtInvitation = AcceptInvitation.pick({ token: true });
export const SeenInvitation = z.object({
  email: z.string(),
  organization: z.object({ id: z.string(), name: z.string() }),
  role: MemberRole,
  expiresAt: Timestamp,
  proof: z.enum(["newPassword", "password", "provider"]).meta({
    description:
      "The proof that accepts it: a new password; that of the account, which exists; or a sign-in at the provider, with `organization`",
  }),
});

/** The body and the answer of `POST /v1/session/reset/look`. */
export const LookAtReset = LookAtInvitation.clone();
export const SeenReset = z.object({ email: z.string(), expiresAt: Timestamp });

/** The body and the answer of `POST /v1/session/reset`. The answer says how many sessions ended. */
export const ResetPassword = AcceptInvitation.pick({ token: true }).extend({ password: Password });
export const PasswordIsReset = z.object({ ended: z.int().min(0) });

const ClientId = StorableText.trim().min(1).max(100).meta({ description: "The name of the program" });

/** The body and the answer of `POST /v1/auth/device-code`. spec: RFC 8628 */
export const AskDeviceCode = z.object({ clientId: ClientId });
export const DeviceCode = z.object({
  deviceCode: z.string(),
  userCode: z.string(),
  expiresIn: z.int(),
  interval: z.int(),
  verificationUri: z.string(),
  verificationUriComplete: z.string(),
});

/** The body and the answer of `POST /v1/auth/token`. */
export const AskIdToken = z.object({ deviceCode: StorableText.max(200), clientId: ClientId });
export const IdToken = z.object({ idToken: z.string().meta({ description: "For one use within 60 s" }) });

/** The body and the answer of `POST /v1/signin`. */
export const ExchangeIdToken = z.object({ idToken: StorableText.max(4000) });
export const BearerToken = z.object({ bearerToken: z.string() });

/** The query and the answer of `GET /v1/session/device`. */
export const LookUpDeviceCode = z.object({ userCode: z.string().meta({ description: "As the program shows it" }) });
export const SeenDeviceCode = z.object({
  clientId: z.string().meta({ description: "The name that the program gives itself" }),
  address: z.string().meta({ description: "Where the program asked from" }),
  userCode: z.string(),
  expiresAt: Timestamp,
});

/** The body and the answer of `POST /v1/session/device`. */
export const DecideDeviceCode = z.object({ userCode: StorableText.max(50), approve: z.boolean() });
export const DecidedDeviceCode = z.object({ approved: z.boolean() });

/** The query of `GET /v1/session/oidc`, and that of its callback. */
export const BeginAtProvider = z.object({
  next: z.string().optional().meta({ description: "The path of this service where the sign-in ends" }),
  organization: z.string().optional().meta({ description: "Its id, where the account is a member of several" }),
});
export const FinishAtProvider = z.object({
  code: z.string().optional(),
  state: z.string().optional(),
  iss: z.string().optional(),
  error: z.string().optional(),
});

/** The answer of `GET /v1/session`. */
export const SignInWays = z.object({
  passwords: z.boolean(),
  oidc: z.boolean(),
  accounts: z.boolean().meta({ description: "Whether any person has an account; otherwise only an API key signs in" }),
  signedIn: z.boolean().meta({ description: "Whether the cookie of a session came with the call, and has not ended" }),
  failure: ErrorBody.optional().meta({
    description: "Why the last sign-in at the provider failed in this browser; shown once, within five minutes",
  }),
});

/** A session that has begun. Its text is a cookie, and stands nowhere else. */
export const BegunSession = z.object({ id: z.string(), expiresAt: Timestamp });

/** The answer of `DELETE /v1/session`. */
export const EndedSession = z.object({ ended: z.boolean().meta({ description: "False if there was none" }) });
