import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { ApiCallError } from "@downlink/client";
import { api, type CallInput, type Output } from "@downlink/protocol";
import type { TestCloud } from "../../testing/start-cloud.ts";
import { sayHello, type TestAgent } from "../../testing/test-agent.ts";
import { CardModel, type Happening, nothing } from "./card-model.ts";

/** The faults of the network for one report. */
export interface Weather {
  /** The first copy is held up, and arrives long after the agent stopped waiting for an answer. */
  readonly isHeldUp: boolean;
  /** The report is stored, but the agent never gets the answer. */
  readonly isAnswerLost: boolean;
  /** The network delivers the same bytes twice at the same moment. */
  readonly isDoubled: boolean;
  /** After how many steps another copy of the report arrives, or the only one. */
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

/** An agent over a bad network. Like the real one it has one report in flight, and sends it until it gets an answer. */
export class FlakyDevice {
  readonly #cloud: TestCloud;
  #agent: TestAgent;
  #sequence = 0;
  #card = new CardModel("");
  /** Copies that are still in flight: those of the first list arrive in the next step. */
  #late: (() => Promise<void>)[][] = [];

  constructor(cloud: TestCloud, agent: TestAgent) {
    this.#cloud = cloud;
    this.#agent = agent;
  }

  get deviceId(): string {
    return this.#agent.deviceId;
  }

  /** Lists the files on the card, and goes through the steps. */
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
    const reported = this.#card.happen(happening);
    if (reported === undefined) return this.#list(step.weather);
    if (reported !== nothing) await this.#send(reported, step.weather);
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

  /** Lists all files, in several reports. */
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

  /** Sends a report until an answer arrives. Each attempt has the next number, but copies that the network makes keep theirs. */
  async #send(reported: Omit<Report, "sequence">, weather: Weather): Promise<Answer> {
    const next = () => ({ ...reported, sequence: ++this.#sequence });
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

  /** The copy may still be the last report, and is a repeat then; otherwise it must be refused as too late. */
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
