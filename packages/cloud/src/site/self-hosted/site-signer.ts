import { createLinkSigner, type LinkSigner } from "../../core/signed-link.ts";
import type { SiteFacts } from "./site-memory.ts";

/** The signer of a site, whose keys change while it is in use. Without keys it accepts nothing. */
export class SiteSigner implements LinkSigner {
  #signer: LinkSigner = { keys: [] };

  get keys(): LinkSigner["keys"] {
    return this.#signer.keys;
  }

  get siteId(): string | undefined {
    return this.#signer.siteId;
  }

  /** From now on only links with these keys are accepted. */
  use({ keys, siteId }: Pick<SiteFacts, "keys" | "siteId">): void {
    const secrets = keys.map(({ secret }) => secret);
    this.#signer = secrets.length === 0 ? { keys: [], siteId } : createLinkSigner(secrets, siteId);
  }
}
