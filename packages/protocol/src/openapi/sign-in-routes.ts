import { JSON_TYPE, type PlainRoute } from "./plain-route.ts";

const begun = { 200: { description: "The session's id and end; its text is a cookie", mediaType: JSON_TYPE } };
const signIn = {
  access: "anybody",
  takes: JSON_TYPE,
  answers: begun,
  refusals: [400, 401, 403, 415],
} as const;

export const sessionRoutes = {
  ways: {
    method: "get",
    path: "/v1/session",
    called: "session.ways",
    summary: "Tell a page which ways of signing in are on, and whether the browser is signed in",
    access: "anybody",
    answers: {
      200: { description: "`passwords`, `oidc`, `signedIn`, and `failure` of the last try", mediaType: JSON_TYPE },
    },
    refusals: [400],
  },
  begin: {
    ...signIn,
    method: "post",
    path: "/v1/session",
    called: "session.begin",
    summary: "Sign in with an e-mail address and its password, or exchange an API key for a session",
    description:
      "Takes `email`, `password` and `organization` (without it, 400 `OrganizationRequired` names those of a member of several), or `apiKey`. Needs the `Origin` of this service's own pages.",
  },
  look: {
    ...signIn,
    method: "post",
    path: "/v1/session/invitation/look",
    called: "session.lookAtInvitation",
    summary: "Tell the holder of an invitation who is invited, where to, and what accepts it",
    description:
      "Takes the `token` that stands behind # in the link, which is not used up. Needs the `Origin` of this service's own pages.",
    answers: {
      200: { description: "`email`, `organization`, `role`, `expiresAt`, `proof`", mediaType: JSON_TYPE },
    },
  },
  accept: {
    ...signIn,
    method: "post",
    path: "/v1/session/invitation",
    called: "session.accept",
    summary: "Accept an invitation and sign in",
    description:
      "Takes the `token` that stands behind # in the link, a `name` and a `password`. If the account exists, that is its own password. Needs the `Origin` of this service's own pages.",
  },
  lookAtReset: {
    ...signIn,
    method: "post",
    path: "/v1/session/reset/look",
    called: "session.lookAtReset",
    summary: "Tell the holder of a link for a new password whose it is",
    description: "Takes the `token` that stands behind # in the link. Needs the `Origin` of this service's own pages.",
    answers: { 200: { description: "`email`, `expiresAt`", mediaType: JSON_TYPE } },
  },
  reset: {
    ...signIn,
    method: "post",
    path: "/v1/session/reset",
    called: "session.resetPassword",
    summary: "Set a new password by the link for it; all sessions of the account end",
    description:
      "Takes the `token` that stands behind # in the link, and a `password`. Sign in with it then. Needs the `Origin` of this service's own pages.",
    answers: { 200: { description: "`ended`: how many sessions ended", mediaType: JSON_TYPE } },
  },
  end: {
    method: "delete",
    path: "/v1/session",
    called: "session.end",
    summary: "Sign out",
    access: "anybody",
    answers: { 200: { description: "The session has ended", mediaType: JSON_TYPE } },
    refusals: [403],
  },
} as const satisfies Record<string, PlainRoute>;

const answered = (description: string) => ({ 200: { description, mediaType: JSON_TYPE } });
const forProgram = {
  method: "post",
  access: "anybody",
  takes: JSON_TYPE,
  refusals: [400, 401, 403],
} as const;

/** How a program without a browser is signed in by a member. spec: RFC 8628 */
export const deviceCodeRoutes = {
  ask: {
    ...forProgram,
    path: "/v1/auth/device-code",
    called: "auth.askDeviceCode",
    summary: "Begin the sign-in of a program: takes its clientId",
    answers: answered(
      "`deviceCode`, `userCode`, `expiresIn`, `interval`, `verificationUri`, `verificationUriComplete`",
    ),
  },
  token: {
    ...forProgram,
    path: "/v1/auth/token",
    called: "auth.token",
    summary: "Ask whether a member has approved: takes deviceCode and clientId",
    description: "403 `AuthorizationPending` until a member has approved; 401 if it was denied or is too old.",
    answers: answered("`idToken`, for one use within 60 s"),
  },
  signIn: {
    ...forProgram,
    path: "/v1/signin",
    called: "auth.signIn",
    summary: "Exchange the idToken for a bearer token, good for 90 days",
    answers: answered("`bearerToken`"),
  },
  look: {
    method: "get",
    path: "/v1/session/device",
    called: "session.lookUpDeviceCode",
    summary: "Show a signed-in member which program has the code of the query's userCode",
    access: "anybody",
    answers: answered("`clientId`, `address`, `userCode`, `expiresAt`"),
    refusals: [400, 401, 403, 404],
  },
  decide: {
    ...forProgram,
    path: "/v1/session/device",
    called: "session.decideDeviceCode",
    summary: "Approve or deny, as a signed-in member: takes userCode and approve",
    description: "Approve only what you have just started yourself. Needs the `Origin` of this service's own pages.",
    answers: answered("`approved`"),
    refusals: [...forProgram.refusals, 404],
  },
} as const satisfies Record<string, PlainRoute>;

const leadsOn = (description: string) => ({ 302: { description } });

/** How a browser is signed in by a provider of OpenID Connect: the code flow with PKCE. */
export const oidcRoutes = {
  begin: {
    method: "get",
    path: "/v1/session/oidc",
    called: "session.beginAtProvider",
    summary: "Lead a browser to the provider of OpenID Connect that is set up here",
    description:
      "Takes in the query `next`, the path of this service where it ends, and `organization`, where the account is a member of several. Sets a cookie, good for ten minutes, without which the way back from the provider is refused.",
    access: "anybody",
    answers: leadsOn("The provider's page; or, in a browser, that of the sign-in if it failed"),
    refusals: [400, 403],
  },
  finish: {
    method: "get",
    path: "/v1/session/oidc/callback",
    called: "session.finishAtProvider",
    summary: "Begin the session of who comes back from the provider",
    description:
      "Takes in the query what the provider put there: `code`, `state`, `iss`, `error`. A browser, which asks for `text/html`, is led to `/sign-in` if that fails, and `GET /v1/session` says why.",
    access: "anybody",
    answers: leadsOn("The path that `next` named, with the session as a cookie; or the page of the sign-in"),
    refusals: [400, 401, 403],
  },
} as const satisfies Record<string, PlainRoute>;
