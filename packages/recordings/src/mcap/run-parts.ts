import { createSpanNotes, LEAST_GAP_NS, type SpanNotes } from "../survey/message-spans.ts";
import { timeOfHalves } from "./channel-sums.ts";

const LEAST_GAP = Number(LEAST_GAP_NS);

/** A time in halves of 32 bits. */
interface Time {
  timeHigh: number;
  timeLow: number;
}

/** Notes the times of a run's messages, and finds long gaps. Nothing is allocated for a message. */
export class RunParts {
  #isEmpty = true;
  readonly #first: Time = { timeHigh: 0, timeLow: 0 };
  readonly #last: Time = { timeHigh: 0, timeLow: 0 };
  #notes: SpanNotes | undefined;

  add(time: Time): void {
    const afterLast = nsBetween(this.#last, time);
    const beforeFirst = nsBetween(time, this.#first);
    if (this.#isEmpty || afterLast > LEAST_GAP || beforeFirst > LEAST_GAP) this.#begin(time);
    else if (afterLast > 0) setTime(this.#last, time);
    else if (beforeFirst > 0) setTime(this.#first, time);
  }

  /** Undefined if there is no long gap. */
  end(): SpanNotes | undefined {
    if (this.#notes) this.#note(this.#notes);
    return this.#notes;
  }

  #begin(time: Time): void {
    if (!this.#isEmpty) {
      this.#notes ??= createSpanNotes();
      this.#note(this.#notes);
    }
    this.#isEmpty = false;
    setTime(this.#first, time);
    setTime(this.#last, time);
  }

  #note(notes: SpanNotes): void {
    notes.note(toTime(this.#first), toTime(this.#last));
  }
}

/** As exact as is needed to compare it with an hour. */
function nsBetween(from: Time, to: Time): number {
  return (to.timeHigh - from.timeHigh) * 2 ** 32 + (to.timeLow - from.timeLow);
}

function setTime(to: Time, { timeHigh, timeLow }: Time): void {
  to.timeHigh = timeHigh;
  to.timeLow = timeLow;
}

function toTime({ timeHigh, timeLow }: Time): bigint {
  return timeOfHalves(timeHigh, timeLow);
}
