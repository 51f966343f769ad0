import { request } from "undici";
import type { TestCloud } from "../../../testing/start-cloud.ts";

interface Asking {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answered {
  readonly status: number;
  readonly json: Record<string, unknown>;
  readonly text: string;
  readonly setCookie: string | undefined;
  readonly retryAfter: string | undefined;
}

export const PASSWORD = "correct horse battery";

/** A browser with a page of ours: it keeps the cookie, and sends it and the page's Origin. */
export class Browser {
  readonly #cloud: Pick<TestCloud, "url">;
  cookie: string | undefined;

  constructor(cloud: Pick<TestCloud, "url">) {
    this.#cloud = cloud;
  }

  async ask({ method = "GET", path, body, headers = {} }: Asking): Promise<Answered> {
    const own = { origin: this.#cloud.url, ...(this.cookie !== undefined && { cookie: this.cookie }) };
    const typed = body === undefined ? {} : { "content-type": "application/json" };
    const all = Object.entries({ ...own, ...typed, ...headers }).filter(([, value]) => value !== "absent");
    const answer = await request(`${this.#cloud.url}${path}`, {
      method,
      headers: Object.fromEntries(all),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    const setCookie = answer.headers["set-cookie"]?.toString();
    if (setCookie !== undefined) this.cookie = setCookie.split(";")[0];
    const retryAfter = answer.headers["retry-after"]?.toString();
    return { status: answer.statusCode, json: text === "" ? {} : JSON.parse(text), text, setCookie, retryAfter };
  }

  signIn(body: unknown): Promise<Answered> {
    return this.ask({ method: "POST", path: "/v1/session", body });
  }

  accept(link: string, password = PASSWORD): Promise<Answered> {
    const body = { token: link.split("#")[1], password };
    return this.ask({ method: "POST", path: "/v1/session/invitation", body });
  }
}
