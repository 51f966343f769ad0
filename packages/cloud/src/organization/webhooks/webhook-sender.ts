// Each webhook is served by a task of its own, so that a receiver that is slow or dead delays no other webhook. While a receiver fails it
// gets one delivery at a time, and all those that fail may use only half of the tasks: so the others go on, however many fail.

import { setTimeout as delay } from "node:timers/promises";
import type { Deps } from "../../calls/context/context.ts";
import { OutgoingPosts } from "../../process/outgoing/outgoing-posts.ts";
import { type Claimed, claimDeliveries, type DueWebhook, endTurn, findDue, takeTurn } from "./claim-deliveries.ts";
import { type Attempt, recordAttempts, releaseClaims } from "./record-attempts.ts";
import { messageOf } from "./webhook-message.ts";

const LOOK_MS = 250;
/** Looking takes at most this part of the time, however many webhooks there are. */
const LOOK_SHARE = 0.1;
/** So many deliveries of one webhook are sent at once, by all processes together. */
export const MOST_AT_ONCE = 4;
const MOST_TASKS = 200;
const MOST_FAILING = MOST_TASKS / 2;
/** After that others have their turn, however much is due for this webhook. */
const TURN_MS = 10_000;
/** Attempts that are under way when the process stops may take so long. */
const FINISH_MS = 1000;

type SenderDeps = Pick<Deps, "db" | "clock" | "log" | "webhookNetworks">;

/** Sends what is due to all webhooks, until it is disposed of. It may run in any number of processes. */
export class WebhookSender implements AsyncDisposable {
  readonly #deps: SenderDeps;
  readonly #posts: OutgoingPosts;
  readonly #tasks = new Map<string, { readonly isFailing: boolean; readonly done: Promise<void> }>();
  /** Nothing more is begun. */
  readonly #stopping = new AbortController();
  /** Attempts that are under way are cut off. */
  readonly #cutting = new AbortController();
  readonly #looking: Promise<void>;

  constructor(deps: SenderDeps) {
    this.#deps = deps;
    this.#posts = new OutgoingPosts(deps.webhookNetworks);
    this.#looking = this.#keepLooking();
  }

  async #keepLooking(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const beganMs = performance.now();
      await this.#look().catch((err: unknown) => this.#deps.log.warn({ err }, "could not look for deliveries"));
      const pauseMs = Math.max(LOOK_MS, (performance.now() - beganMs) / LOOK_SHARE);
      await delay(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  async #look(): Promise<void> {
    const { db, clock } = this.#deps;
    const most = MOST_TASKS - this.#tasks.size;
    let failing = [...this.#tasks.values()].filter(({ isFailing }) => isFailing).length;
    for (const webhook of await findDue(db, { nowNs: clock.nowNs(), busy: [...this.#tasks.keys()], most })) {
      if (webhook.isFailing && ++failing > MOST_FAILING) return;
      this.#begin(webhook);
    }
  }

  #begin({ id, isFailing }: DueWebhook): void {
    const done = this.#serve(id, isFailing ? 1 : MOST_AT_ONCE)
      .catch((err: unknown) => this.#deps.log.warn({ err, webhookId: id }, "deliveries are sent again later"))
      .finally(() => this.#tasks.delete(id));
    this.#tasks.set(id, { isFailing, done });
  }

  /** Does nothing while another process serves the webhook, so that the two together never send more at once than one may. */
  async #serve(webhookId: string, most: number): Promise<void> {
    const { db, clock } = this.#deps;
    const turn = await takeTurn(db, { webhookId, nowNs: clock.nowNs() });
    if (turn === undefined) return;
    try {
      await this.#sendDue(webhookId, most);
    } finally {
      await endTurn(db, turn);
    }
  }

  /** Ends when nothing is due, with the first failure, or with its turn. */
  async #sendDue(webhookId: string, most: number): Promise<void> {
    const { db, clock } = this.#deps;
    const untilMs = performance.now() + TURN_MS;
    while (!this.#stopping.signal.aborted && performance.now() < untilMs) {
      const claimed = await claimDeliveries(db, { webhookId, nowNs: clock.nowNs(), most });
      if (claimed.length === 0) return;
      const attempts = await Promise.all(claimed.map((delivery) => this.#attempt(webhookId, delivery)));
      if (!(await this.#record(webhookId, attempts))) return;
    }
  }

  /** Resolves with true if all were taken. */
  async #record(webhookId: string, attempts: readonly (Attempt | string)[]): Promise<boolean> {
    const { db, clock, log } = this.#deps;
    const made = attempts.filter((attempt) => typeof attempt !== "string");
    const eventIds = attempts.filter((attempt) => typeof attempt === "string");
    const nowNs = clock.nowNs();
    if (eventIds.length > 0) await releaseClaims(db, { webhookId, eventIds, nowNs });
    if (made.length === 0) return false;
    const reason = await recordAttempts(db, { webhookId, attempts: made, nowNs });
    if (reason !== undefined) log.warn({ webhookId, reason }, "a webhook was disabled");
    return made.every(({ error }) => error === undefined);
  }

  /** Returns only the id of the event if the attempt was cut off because this process stops. */
  async #attempt(webhookId: string, delivery: Claimed): Promise<Attempt | string> {
    const { url, secret, formerSecret } = delivery;
    const receiver = { id: webhookId, url, secret, formerSecret: formerSecret ?? undefined };
    const message = messageOf(receiver, delivery, this.#deps.clock.nowNs());
    const begunMs = performance.now();
    const tookMs = () => Math.round(performance.now() - begunMs);
    try {
      const { statusCode, retryAfter, text: answer } = await this.#posts.send(message, this.#cutting.signal);
      return { delivery, statusCode, retryAfter, answer, tookMs: tookMs(), error: errorOf(statusCode) };
    } catch (error) {
      if (this.#cutting.signal.aborted) return delivery.eventId;
      return { delivery, statusCode: undefined, tookMs: tookMs(), error: (error as Error).message };
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    const finishing = setTimeout(() => this.#cutting.abort(), FINISH_MS);
    await this.#looking;
    await Promise.all([...this.#tasks.values()].map(({ done }) => done));
    clearTimeout(finishing);
    await this.#posts[Symbol.asyncDispose]();
  }
}

function errorOf(statusCode: number): string | undefined {
  if (statusCode >= 200 && statusCode < 300) return undefined;
  const hint = statusCode >= 300 && statusCode < 400 ? "; redirects are not followed" : "";
  return `the receiver answered ${statusCode}${hint}`;
}
