/** Starts a worker of this build, and no other: the policy of the page requires that code vouches for the address. */
export function startWorker(url: string, name: string): Worker {
  return new Worker(trust(url), { type: "module", name });
}

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string };
}

/** A page may create it once. */
let policy: ReturnType<TrustedTypes["createPolicy"]> | undefined;

function trust(url: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  policy ??= trustedTypes?.createPolicy("downlink-worker", { createScriptURL: ownUrl });
  return policy ? policy.createScriptURL(url) : ownUrl(url);
}

function ownUrl(url: string): string {
  if (new URL(url, location.href).origin !== location.origin) throw new TypeError(`not a worker of this page: ${url}`);
  return url;
}
