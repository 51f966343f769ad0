import * as oidc from "openid-client";
import type { Logger } from "pino";
import { ApiError } from "../../core/errors.ts";
import { fetchBounded } from "./fetch-bounded.ts";
import type { ProviderSettings } from "./sign-in-settings.ts";

const TIMEOUT_SECONDS = 10;
/**
 * So long the provider's description of itself is kept. After an answer that could not be read it is asked for again: its keys may be new.
 */
const KEPT_MS = 3_600_000;
const RETRY_AFTER_SECONDS = 5;
/** The `sub` of the standard: at most 255 characters of ASCII. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/;
/** An e-mail address in ASCII: other letters may become those of another address when they are made small. */
const EMAIL = /^[\x21-\x3f\x41-\x7e]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$/;
const MAX_EMAIL = 254;
const MAX_NAME = 200;

/** The secrets of one attempt, which only the browser that began it holds. */
export interface Attempt {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** A person, as the provider knows them. */
export interface ProvenPerson {
  readonly issuer: string;
  readonly subject: string;
  /** In lower case; undefined unless the provider says that it has verified it. */
  readonly email: string | undefined;
  readonly name: string | undefined;
}

interface Kept {
  readonly untilMs: number;
  readonly found: Promise<oidc.Configuration>;
}

/**
 * The provider of OpenID Connect that the operator trusts to say who a person is. openid-client does the code flow with PKCE, state and
 * nonce; the signature of each ID token is checked, too. If the provider is away or slow, or answers nonsense, a sign-in is answered 503,
 * and nothing else stops.
 */
export class IdentityProvider {
  readonly #settings: ProviderSettings;
  readonly #log: Pick<Logger, "warn">;
  readonly #timeoutSeconds: number;
  #kept: Kept | undefined;

  constructor(settings: ProviderSettings, log: Pick<Logger, "warn">, timeoutSeconds = TIMEOUT_SECONDS) {
    this.#settings = settings;
    this.#timeoutSeconds = timeoutSeconds;
    this.#log = log;
  }

  /** Returns the attempt, and the address of the provider's page where it goes on. */
  async begin(redirectUri: string): Promise<{ readonly attempt: Attempt; readonly page: URL }> {
    const attempt = {
      state: oidc.randomState(),
      nonce: oidc.randomNonce(),
      codeVerifier: oidc.randomPKCECodeVerifier(),
    };
    const page = await this.#refusing(async (found) => {
      const codeChallenge = await oidc.calculatePKCECodeChallenge(attempt.codeVerifier);
      return oidc.buildAuthorizationUrl(found, {
        redirect_uri: redirectUri,
        scope: "openid email profile",
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: codeChallenge,
        code_challenge_method: "S256",
      });
    });
    return { attempt, page };
  }

  /** Exchanges the code of the address to which the provider sent the browser back. */
  async finish(returned: URL, { state, nonce, codeVerifier }: Attempt): Promise<ProvenPerson> {
    return this.#refusing(async (found) => {
      requireIssuer(found.serverMetadata(), returned);
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: codeVerifier };
      const tokens = await oidc.authorizationCodeGrant(found, returned, { ...checks, idTokenExpected: true });
      const claims = tokens.claims()!;
      const hasMore = claims.email === undefined && found.serverMetadata().userinfo_endpoint !== undefined;
      const asked = hasMore ? await oidc.fetchUserInfo(found, tokens.access_token, claims.sub) : claims;
      return toPerson({ ...asked, sub: claims.sub }, claims.iss);
    });
  }

  async #refusing<T>(act: (found: oidc.Configuration) => Promise<T>): Promise<T> {
    try {
      return await act(await this.#find());
    } catch (error) {
      throw this.#refusalOf(error as Error);
    }
  }

  #find(): Promise<oidc.Configuration> {
    const nowMs = Date.now();
    if (!this.#kept || this.#kept.untilMs <= nowMs) this.#kept = { untilMs: nowMs + KEPT_MS, found: this.#discover() };
    return this.#kept.found;
  }

  #discover(): Promise<oidc.Configuration> {
    const { issuer, clientId, clientSecret } = this.#settings;
    const isPlain = issuer.startsWith("http:");
    return oidc.discovery(new URL(issuer), clientId, undefined, authenticationBy(clientSecret), {
      timeout: this.#timeoutSeconds,
      [oidc.customFetch]: fetchBounded,
      execute: [oidc.enableNonRepudiationChecks, ...(isPlain ? [oidc.allowInsecureRequests] : [])],
    });
  }

  /** Says what went wrong without what the provider wrote, which the log has. */
  #refusalOf(error: Error): ApiError {
    if (error instanceof ApiError) return error;
    if (isAboutAttempt(error)) return newStrangeAnswerError();
    this.#kept = undefined;
    this.#log.warn({ reason: reasonOf(error) }, "the provider of OpenID Connect does not answer as it should");
    const message = "the provider of OpenID Connect is away, or does not answer as it should; try again";
    return new ApiError("Unavailable", message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
}

/** The browser brings the issuer, so that a wrong one says nothing about the provider. */
function requireIssuer(known: oidc.ServerMetadata, returned: URL): void {
  const isAlwaysNamed = known.authorization_response_iss_parameter_supported === true;
  const named = returned.searchParams.get("iss");
  if (named === null ? isAlwaysNamed : named !== known.issuer) throw newStrangeAnswerError();
}

function newStrangeAnswerError(): ApiError {
  return new ApiError("Unauthenticated", "the provider's answer is not for this sign-in, or too old; begin again");
}

/** By the standard a client with a secret sends it in `Authorization`, unless the provider takes it in the body only. */
function authenticationBy(secret: string | undefined): oidc.ClientAuth {
  if (secret === undefined) return oidc.None();
  const [inHeader, inBody] = [oidc.ClientSecretBasic(secret), oidc.ClientSecretPost(secret)];
  return (server, ...rest) => {
    const { token_endpoint_auth_methods_supported: known = ["client_secret_basic"] } = server;
    const takesBodyOnly = known.includes("client_secret_post") && !known.includes("client_secret_basic");
    return (takesBodyOnly ? inBody : inHeader)(server, ...rest);
  };
}

/** Only what errors say: what else they hold may be the provider's answer, with tokens in it. */
function reasonOf(error: Error): string {
  const said = error instanceof oidc.ResponseBodyError ? error.error : undefined;
  const cause = error.cause instanceof Error ? error.cause.message : undefined;
  return [error.message, said, cause].filter((text) => text !== undefined).join(": ");
}

const OF_ATTEMPT = new Set(["OAUTH_JWT_CLAIM_COMPARISON_FAILED", "OAUTH_JWT_TIMESTAMP_CHECK_FAILED"]);

function isAboutAttempt(error: Error): boolean {
  if (error instanceof oidc.AuthorizationResponseError) return true;
  if (error instanceof oidc.ResponseBodyError) return error.error === "invalid_grant";
  return error instanceof oidc.ClientError && OF_ATTEMPT.has(error.code ?? "");
}

function toPerson(claims: Readonly<Record<string, unknown>>, issuer: string): ProvenPerson {
  const { sub, email, email_verified: isVerified, name } = claims;
  if (typeof sub !== "string" || !SUBJECT.test(sub)) throw new TypeError("the provider's sub is none of the standard");
  const isEmail = typeof email === "string" && email.length <= MAX_EMAIL && EMAIL.test(email);
  const clean = typeof name === "string" ? name.replaceAll(/\p{C}/gu, "").trim().slice(0, MAX_NAME) : "";
  return {
    issuer,
    subject: sub,
    email: isEmail && isVerified === true ? email.toLowerCase() : undefined,
    name: clean === "" ? undefined : clean.toWellFormed(),
  };
}
