import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { type Configuration, type JWKS, Provider } from "oidc-provider";

const CLIENT = { id: "downlink", secret: "a secret of the client" };

/** A person who is signed in at the provider. */
export interface Person {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: unknown;
  readonly name?: string;
}

/** Stands in for the provider; false: the provider answers itself. */
type StandIn = (request: IncomingMessage, response: ServerResponse) => boolean;

/** The real oidc-provider on loopback, whose page signs in `person` at once. A test may stand in for some of its answers. */
export class TestProvider {
  readonly issuer: string;
  readonly #server: Server;
  #keys: Keys;
  #answer: (request: IncomingMessage, response: ServerResponse) => Promise<void> = async () => {};
  person: Person = { sub: "nobody" };
  standIn: StandIn = () => false;

  private constructor(server: Server, keys: Keys) {
    this.#server = server;
    this.#keys = keys;
    this.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on("request", (request, response) => {
      if (!this.standIn(request, response)) this.handle(request, response);
    });
  }

  /** Answers as the provider itself. */
  handle(request: IncomingMessage, response: ServerResponse): void {
    void this.#answer(request, response);
  }

  static async start(t: { after(close: () => Promise<void>): void }): Promise<TestProvider> {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const started = new TestProvider(server, await makeKeys("first"));
    t.after(() => started.stop());
    return started;
  }

  /** Takes these deployments as places to which it sends browsers back. */
  register(...cloudUrls: readonly string[]): void {
    const provider = new Provider(this.issuer, this.#configuration(cloudUrls));
    provider.use(async (ctx, next) => {
      if (!ctx.path.startsWith("/interaction/")) return next();
      ctx.respond = false;
      await provider.interactionFinished(ctx.req, ctx.res, { login: { accountId: this.person.sub } });
    });
    this.#answer = provider.callback();
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    if (this.#server.listening) await new Promise<void>((closed) => this.#server.close(() => closed()));
  }

  async changeKeys(keyId: string, ...cloudUrls: readonly string[]): Promise<void> {
    this.#keys = await makeKeys(keyId);
    this.register(...cloudUrls);
  }

  /** Makes an ID token with the provider's own key, or with another. */
  async forge(claims: JWTPayload, key: CryptoKey = this.#keys.key): Promise<string> {
    const own = { iss: this.issuer, aud: CLIENT.id, ...claims };
    const token = new SignJWT(own).setProtectedHeader({ alg: "RS256", kid: String(this.#keys.jwks.keys[0]!.kid) });
    return token.setIssuedAt().setExpirationTime("5min").sign(key);
  }

  #configuration(cloudUrls: readonly string[]): Configuration {
    const redirect = { redirect_uris: cloudUrls.map((url) => `${url}/v1/session/oidc/callback`) };
    return {
      jwks: this.#keys.jwks,
      clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, ...redirect }],
      cookies: { keys: ["a key of the provider"] },
      claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
      features: { devInteractions: { enabled: false } },
      findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ ...this.person, sub }) }),
      loadExistingGrant: async (ctx) => {
        const { provider, session, client, params } = ctx.oidc;
        const grant = new provider.Grant({ accountId: session!.accountId!, clientId: client!.clientId });
        grant.addOIDCScope(String(params!.scope));
        await grant.save();
        return grant;
      },
    };
  }
}

interface Keys {
  readonly jwks: JWKS;
  readonly key: CryptoKey;
}

async function makeKeys(kid: string): Promise<Keys> {
  const { privateKey: key } = await generateKeyPair("RS256", { extractable: true });
  const jwk = { ...(await exportJWK(key)), kid, use: "sig", alg: "RS256" };
  return { jwks: { keys: [jwk] } as JWKS, key };
}

export function settingsFor(issuer: string): Record<string, string> {
  return {
    DOWNLINK_SIGN_IN: "oidc",
    DOWNLINK_OIDC_ISSUER: issuer,
    DOWNLINK_OIDC_CLIENT_ID: CLIENT.id,
    DOWNLINK_OIDC_CLIENT_SECRET: CLIENT.secret,
    DOWNLINK_OIDC_DOMAINS: "allowed.example",
    DOWNLINK_ADMIN_EMAIL: "Owner@example.org",
  };
}
