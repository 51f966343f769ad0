import { request } from "undici";

export interface Visited {
  readonly status: number;
  readonly location: string | undefined;
  readonly json: Record<string, unknown>;
  readonly setCookies: readonly string[];
  readonly text: string;
}

/** A browser that goes where it is sent and keeps the cookies of each origin. */
export class RedirectedBrowser {
  readonly #cookies = new Map<string, Map<string, string>>();

  async visit(address: string, accept = "*/*"): Promise<Visited> {
    const { origin } = new URL(address);
    const cookies = this.cookiesOf(origin);
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await request(address, { headers: { accept, ...(cookie !== "" && { cookie }) } });
    const setCookies = [answer.headers["set-cookie"] ?? []].flat();
    for (const one of setCookies) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(one) ?? [];
      if (value === "") cookies.delete(name);
      else cookies.set(name, value);
    }
    const text = await answer.body.text();
    const location = answer.headers.location?.toString();
    const json = text.startsWith("{") ? (JSON.parse(text) as Record<string, unknown>) : {};
    return {
      status: answer.statusCode,
      location: location && new URL(location, address).href,
      json,
      setCookies,
      text,
    };
  }

  /** Follows redirects until the next one leads to an address that begins so; returns that one. */
  async followTo(address: string, beginning: string): Promise<string> {
    for (let at = address, steps = 0; steps < 10; steps++) {
      const { location, status, text } = await this.visit(at);
      if (location === undefined) throw new Error(`${at} led nowhere: ${status} ${text}`);
      if (location.startsWith(beginning)) return location;
      at = location;
    }
    throw new Error("too many redirects");
  }

  cookiesOf(origin: string): Map<string, string> {
    const cookies = this.#cookies.get(origin) ?? new Map<string, string>();
    this.#cookies.set(origin, cookies);
    return cookies;
  }
}
