import type { z } from "zod";
import {
  AcceptInvitation,
  AskDeviceCode,
  AskIdToken,
  BearerToken,
  BeginAtProvider,
  BegunSession,
  DecideDeviceCode,
  DecidedDeviceCode,
  DeviceCode,
  EndedSession,
  ExchangeIdToken,
  FinishAtProvider,
  IdToken,
  LookAtInvitation,
  LookAtReset,
  LookUpDeviceCode,
  PasswordIsReset,
  ResetPassword,
  SeenDeviceCode,
  SeenInvitation,
  SeenReset,
  SignIn,
  SignInWays,
} from "../resources/sign-in.ts";
import type { PlainRoute } from "./plain-route.ts";

const setsCookie = { headers: ["Set-Cookie"] } as const;
const begun = {
  200: { description: "The session's id and end; its text is a cookie", content: BegunSession, ...setsCookie },
};
const answered = (description: string, content: z.ZodType) => ({ 200: { description, content } });
const signIn = {
  access: "anybody",
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
      200: { description: "The ways, and the failure of the last try", content: SignInWays, ...setsCookie },
    },
    refusals: [400],
  },
  begin: {
    ...signIn,
    method: "post",
    path: "/v1/session",
    called: "session.begin",
    takes: SignIn,
    summary: "Sign in with an e-mail address and its password, or exchange an API key for a session",
    description:
      "Takes `email`, `password` and `organization` (without it, 400 `OrganizationRequired` names those of a member of several), or `apiKey`. Needs the `Origin` of this service's own pages.",
  },
  look: {
    ...signIn,
    method: "post",
    path: "/v1/session/invitation/look",
    called: "session.lookAtInvitation",
    takes: LookAtInvitation,
    summary: "Tell the holder of an invitation who is invited, where to, and what accepts it",
    description:
      "Takes the `token` that stands behind # in the link, which is not used up. Needs the `Origin` of this service's own pages.",
    answers: answered("The invitation", SeenInvitation),
  },
  accept: {
    ...signIn,
    method: "post",
    path: "/v1/session/invitation",
    called: "session.accept",
    takes: AcceptInvitation,
    summary: "Accept an invitation and sign in",
    description:
      "Takes the `token` that stands behind # in the link, a `name` and a `password`. If the account exists, that is its own password. Needs the `Origin` of this service's own pages.",
  },
  lookAtReset: {
    ...signIn,
    method: "post",
    path: "/v1/session/reset/look",
    called: "session.lookAtReset",
    takes: LookAtReset,
    summary: "Tell the holder of a link for a new password whose it is",
    description: "Takes the `token` that stands behind # in the link. Needs the `Origin` of this service's own pages.",
    answers: answered("The account, and the end of the link", SeenReset),
  },
  reset: {
    ...signIn,
    method: "post",
    path: "/v1/session/reset",
    called: "session.resetPassword",
    takes: ResetPassword,
    summary: "Set a new password by the link for it; all sessions of the account end",
    description:
      "Takes the `token` that stands behind # in the link, and a `password`. Sign in with it then. Needs the `Origin` of this service's own pages.",
    answers: answered("The password is set", PasswordIsReset),
  },
  end: {
    method: "delete",
    path: "/v1/session",
    called: "session.end",
    summary: "Sign out",
    access: "anybody",
    answers: { 200: { description: "The session has ended", content: EndedSession, ...setsCookie } },
    refusals: [403],
  },
} as const satisfies Record<string, PlainRoute>;

const forProgram = {
  method: "post",
  access: "anybody",
  refusals: [400, 401, 403],
} as const;

/** How a program without a browser is signed in by a member. spec: RFC 8628 */
export const deviceCodeRoutes = {
  ask: {
    ...forProgram,
    path: "/v1/auth/device-code",
    called: "auth.askDeviceCode",
    takes: AskDeviceCode,
    summary: "Begin the sign-in of a program",
    answers: answered("The code for the program, and the one to show", DeviceCode),
  },
  token: {
    ...forProgram,
    path: "/v1/auth/token",
    called: "auth.token",
    takes: AskIdToken,
    summary: "Ask whether a member has approved",
    description: "403 `AuthorizationPending` until a member has approved; 401 if it was denied or is too old.",
    answers: answered("A member has approved", IdToken),
  },
  signIn: {
    ...forProgram,
    path: "/v1/signin",
    called: "auth.signIn",
    takes: ExchangeIdToken,
    summary: "Exchange the idToken for a bearer token, good for 90 days",
    answers: answered("The token", BearerToken),
  },
  look: {
    method: "get",
    path: "/v1/session/device",
    called: "session.lookUpDeviceCode",
    summary: "Show a signed-in member which program has a code",
    query: LookUpDeviceCode,
    access: "anybody",
    answers: answered("The program", SeenDeviceCode),
    refusals: [400, 401, 403, 404],
  },
  decide: {
    ...forProgram,
    path: "/v1/session/device",
    called: "session.decideDeviceCode",
    takes: DecideDeviceCode,
    summary: "Approve or deny, as a signed-in member",
    description: "Approve only what you have just started yourself. Needs the `Origin` of this service's own pages.",
    answers: answered("The decision is noted", DecidedDeviceCode),
    refusals: [...forProgram.refusals, 404],
  },
} as const satisfies Record<string, PlainRoute>;

const leadsOn = (description: string) => ({ 302: { description, ...setsCookie } });

/** How a browser is signed in by a provider of OpenID Connect: the code flow with PKCE. */
export const oidcRoutes = {
  begin: {
    method: "get",
    path: "/v1/session/oidc",
    called: "session.beginAtProvider",
    summary: "Lead a browser to the provider of OpenID Connect that is set up here",
    description: "Sets a cookie, good for ten minutes, without which the way back from the provider is refused.",
    query: BeginAtProvider,
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
      "The provider has put the query there. A browser, which asks for `text/html`, is led to `/sign-in` if that fails, and `GET /v1/session` says why.",
    query: FinishAtProvider,
    access: "anybody",
    answers: leadsOn("The path that `next` named, with the session as a cookie; or the page of the sign-in"),
    refusals: [400, 401, 403],
  },
} as const satisfies Record<string, PlainRoute>;
