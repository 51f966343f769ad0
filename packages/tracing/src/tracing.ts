/** A span that is under way. */
export interface Span {
  /** Names it again, once more is known: by what is done, never by ids, so that spans of one kind have one name. */
  rename(name: string): void;
  note(attributes: Readonly<Record<string, string | number>>): void;
  fail(message: string): void;
}

export interface NewSpan {
  readonly name: string;
  readonly kind: "internal" | "server" | "client" | "consumer";
  /** The text of a `traceparent` that came from elsewhere. One that is broken counts as none. Absent: the current span is the parent. */
  readonly parent?: string | undefined;
  readonly attributes?: Readonly<Record<string, string | number>>;
}

/** The durations of steps, in all processes that a piece of work passes through. */
export interface Tracing extends AsyncDisposable {
  /** False: nothing is traced, and nothing need be prepared for it. */
  readonly isOn: boolean;
  /** Runs `work` within a span, which ends with it. It fails if `work` does. */
  inSpan<T>(span: NewSpan, work: (span: Span) => Promise<T>): Promise<T>;
  /** The text by which another process continues the current span; undefined outside of any. spec: W3C Trace Context */
  traceparent(): string | undefined;
}

const nothing: Span = { rename() {}, note() {}, fail() {} };

export const noTracing: Tracing = {
  isOn: false,
  inSpan: (_span, work) => work(nothing),
  traceparent: () => undefined,
  async [Symbol.asyncDispose]() {},
};
