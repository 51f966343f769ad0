import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { ApiCallError } from "@downlink/client";
import { api, type CallInput, type Output } from "@downlink/protocol";
import type { TestCloud } from "../../testing/start-cloud.ts";
import { sayHello, type TestAgent } from "../../testing/test-agent.ts";
import { CardModel, type Happening, nothing } from "./card-model.ts";

/** What the network does to one report. */
export interface Weather {
  /** Its first copy is held up, and comes when the agent has long given up waiting for an answer. */
  readonly isHeldUp: boolean;
  /** It is taken, but the agent never hears of it. */
  readonly isAnswerLost: boolean;
  /** Something on the way sends the same bytes twice at once. */
  readonly isDoubled: boolean;
  /** How many steps later a copy of what was sent arrives once more, or at last. */
  readonly lateBy: number;
}

export interface Step {
  readonly happening: Happening | { readonly kind: "restart" };
  readonly weather: Weather;
}

type Report = CallInput<typeof api.edge.report>;
type Answer = Output<typeof api.edge.report>;

const calm: Weather = { isHeldUp: false, isAnswerLost: false, isDoubled: false, lateBy: 0 };
const ITEMS_A_REPORT = 3;

/** An agent over a bad network. As the real one it has one report under way, and sends it until it hears an answer. */
export class FlakyDevice {
  readonly #cloud: TestCloud;
  #agent: TestAgent;
  #sequence = 0;
  #card = new CardModel("");
  /** Copies that are still under way: the first list arrives in the next step. */
  #late: (() => Promise<void>)[][] = [];

  constructor(cloud: TestCloud, agent: TestAgent) {
    this.#cloud = cloud;
    this.#agent = agent;
  }

  get deviceId(): string {
    return this.#agent.deviceId;
  }

  /** Lists what is on the card, and lives the steps. */
  async live(card: CardModel, steps: readonly Step[]): Promise<void> {
    this.#card = card;
    this.#late = [];
    await this.#list(calm);
    for (const step of steps) {
      const arriving = (this.#late.shift() ?? []).map((arrive) => arrive());
      await this.#take(step);
      await Promise.all(arriving);
    }
  }

  async #take(step: Step): Promise<void> {
    const { happening } = step;
    if (happening.kind === "restart") return this.#restart();
    if (happening.kind === "request") return this.#request(this.#card.requestable(happening.pick));
    const said = this.#card.happen(happening);
    if (said === undefined) return this.#list(step.weather);
    if (said !== nothing) await this.#send(said, step.weather);
  }

  async #restart(): Promise<void> {
    this.#agent = await sayHello(this.#cloud, {
      ...this.#agent,
      lease: this.#agent.hello.lease,
      instanceId: randomUUID(),
    });
    this.#sequence = 0;
  }

  async #request(key: string | undefined): Promise<void> {
    if (key === undefined) return;
    await this.#cloud.admin.call(api.recordings.requestImport, { keyOrId: key });
    this.#card.request(key);
  }

  /** Says all that is there, in several reports. */
  async #list(weather: Weather): Promise<void> {
    const { items } = this.#card;
    const id = randomUUID();
    for (let at = 0; at === 0 || at < items.length; at += ITEMS_A_REPORT) {
      const isLast = at + ITEMS_A_REPORT >= items.length;
      const listing = { id, isLast, count: isLast ? items.length : undefined };
      const answer = await this.#send({ upserts: items.slice(at, at + ITEMS_A_REPORT), listing }, weather);
      assert.equal(answer.isListingComplete, isLast || undefined);
    }
  }

  /** Until an answer comes through. Each time it is sent with the next number, but copies made on the way keep theirs. */
  async #send(said: Omit<Report, "sequence">, weather: Weather): Promise<Answer> {
    const next = () => ({ ...said, sequence: ++this.#sequence });
    if (weather.isHeldUp) this.#arriveLate(next(), weather);
    if (weather.isAnswerLost) {
      const unheard = next();
      await this.#agent.call(api.edge.report, unheard);
      this.#arriveLate(unheard, weather);
    }
    const report = next();
    const copies = weather.isDoubled ? [report, report] : [report];
    const answers = await Promise.all(copies.map((copy) => this.#agent.call(api.edge.report, copy)));
    this.#arriveLate(report, weather);
    return answers[0]!;
  }

  /** It may still be the last one, and is a repeat then; else it must have come too late. */
  #arriveLate(report: Report, { lateBy }: Weather): void {
    if (lateBy === 0) return;
    const { call } = this.#agent;
    const arrive = async () => {
      await call(api.edge.report, report).catch((failure: ApiCallError) => {
        assert.match(failure.code!, /^(ReportSuperseded|LeaseLost)$/);
      });
    };
    this.#late[lateBy - 1] = [...(this.#late[lateBy - 1] ?? []), arrive];
  }
}
