import { AsyncLocalStorage } from "node:async_hooks";
import { type Problems, SpanQueue } from "./span-queue.ts";
import { beginContext, formatTraceparent, parseTraceparent, type TraceContext } from "./trace-context.ts";
import type { TraceSettings } from "./trace-settings.ts";
import { type NewSpan, noTracing, type Span, type Tracing } from "./tracing.ts";

/** Opens what sends traces; without settings nothing is traced. */
export function openTracing(settings: TraceSettings | undefined, problems: Problems): Tracing {
  if (!settings) return noTracing;
  const current = new AsyncLocalStorage<TraceContext>();
  const queue = new SpanQueue(settings, problems);
  return {
    isOn: true,
    traceparent() {
      const context = current.getStore();
      return context && formatTraceparent(context);
    },
    inSpan(span, work) {
      const parent = span.parent === undefined ? current.getStore() : parseTraceparent(span.parent);
      const context = beginContext(parent, settings.share);
      const recorded = recordSpan(span);
      return current.run(context, async () => {
        try {
          return await work(recorded);
        } catch (error) {
          recorded.fail(kindOf(error));
          throw error;
        } finally {
          if (context.isSampled) queue.add({ context, parentSpanId: parent?.spanId, ...recorded.end() });
        }
      });
    },
    [Symbol.asyncDispose]: () => queue[Symbol.asyncDispose](),
  };
}

/** A whole message could name a file, or quote data of a user. */
function kindOf(error: unknown): string {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  return String(code ?? name ?? "failed");
}

/** Its length is measured by a clock that is never set, so that it is right also where the time of day jumps. */
function recordSpan({ name, kind, attributes = {} }: NewSpan) {
  const startNs = BigInt(Date.now()) * 1_000_000n;
  const startedMs = performance.now();
  const noted = { name, failure: undefined as string | undefined, attributes: { ...attributes } };
  const span: Span = {
    rename(newName) {
      noted.name = newName;
    },
    note(more) {
      Object.assign(noted.attributes, more);
    },
    fail(message) {
      noted.failure = message;
    },
  };
  const end = () => {
    const tookNs = BigInt(Math.round((performance.now() - startedMs) * 1e6));
    return { ...noted, kind, startNs, endNs: startNs + tookNs };
  };
  return { ...span, end };
}
