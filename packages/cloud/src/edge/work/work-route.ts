// A waiting poll is only a socket (see also `process/polls/agent-polls.ts`): it has no request, signal, timer or query of its own. The route
// releases the request, and makes the whole call again when something may be new; the answer "nothing changed" comes from what was read
// before. Polls that began together end spread over the last fifth of their wait.

import type { IncomingMessage, ServerResponse } from "node:http";
import { api, INCARNATION_HEADER, type Input } from "@downlink/protocol";
import { getRequestListener } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Context, Hono } from "hono";
import type { Env } from "../../calls/connections/env.ts";
import type { AgentCtx, Deps } from "../../calls/context/context.ts";
import { parseInput } from "../../calls/serve/parse.ts";
import { openContext } from "../../calls/serve/serve.ts";
import { ownerId } from "../../process/polls/agent-owner.ts";
import type { KnownWork } from "../../process/polls/known-work.ts";
import { readWork } from "./work.ts";

const { work } = api.edge;
type Work = Input<typeof work>;

/** A poll waits at least this share of the time that the agent asks for, so that polls that began together do not end together. */
const SHORTEST_SHARE = 0.8;
/** After so many calls with the same result the poll is answered. */
const MOST_PASSES = 5;

/** The progress of a poll, which is made again whenever there may be something new for it. */
interface Progress {
  endsAtMs: number;
  /** The cloud's incarnation when the poll began: under another one the poll ends. */
  incarnation?: string;
  passes: number;
}

/**
 * Serves `GET /v1/edge/work` as a long poll. A waiting poll keeps only its socket, and costs no query: the route releases the request, and
 * makes the whole call again when there may be something new. So it ends like a new call, with the work or with a refusal.
 */
export function workRoute(app: Hono<Env>, deps: Deps): void {
  const begin = getRequestListener(app.fetch);
  const progresses = new WeakMap<IncomingMessage, Progress>();
  app.get(work.path, async (c) => {
    const ctx = (await openContext(c, deps, work.access)) as unknown as AgentCtx;
    const input = (await parseInput(c, work)) as Work;
    const { incoming, outgoing } = c.env;
    const progress = progresses.get(incoming) ?? newProgress(input);
    progresses.set(incoming, progress);
    progress.passes += 1;
    const found = await findWork(ctx, { input, progress });
    if (found.body !== undefined) {
      ctx.noteIncarnation(found.incarnation);
      return c.body(found.body, 200, { "content-type": "application/json" });
    }
    c.set("isHeld", true);
    const headers = headersSoFar(c);
    const repeat = () => void begin(incoming, outgoing);
    holdPoll(ctx, { known: found.known, progress, outgoing, headers, repeat });
    return RESPONSE_ALREADY_SENT;
  });
}

function newProgress({ wait }: Work): Progress {
  const share = SHORTEST_SHARE + Math.random() * (1 - SHORTEST_SHARE);
  return { endsAtMs: performance.now() + wait * 1000 * share, passes: 0 };
}

interface Asked {
  readonly input: Work;
  readonly progress: Progress;
}

/** Returns the answer to send now, or that the agent knows it already and may wait. */
async function findWork(
  ctx: AgentCtx,
  asked: Asked,
): Promise<{ body: string; incarnation: string } | { body?: undefined; known: KnownWork }> {
  const owner = ownerId(ctx.caller);
  const known = ctx.polls.works.of(owner);
  if (known && mayWait(ctx, asked, known)) return { known };
  const read = await ctx.admission.reads.run(owner, () =>
    ctx.polls.works.read(owner, () => readWork(ctx, asked.input.maxRequests)),
  );
  return mayWait(ctx, asked, read.known)
    ? { known: read.known }
    : { body: read.body, incarnation: read.known.incarnation };
}

function mayWait({ stopping }: AgentCtx, { input, progress }: Asked, known: KnownWork): boolean {
  progress.incarnation ??= known.incarnation;
  const isNews = known.etag !== input.etag || known.maxRequests !== input.maxRequests;
  const isOver = performance.now() >= progress.endsAtMs || progress.passes >= MOST_PASSES;
  return !isNews && !isOver && !stopping.aborted && known.incarnation === progress.incarnation;
}

/** Returns the headers that the answer would have, as far as they are known. */
function headersSoFar(c: Context<Env>): Record<string, string> {
  return Object.fromEntries(c.body("", 200, { "content-type": "application/json" }).headers);
}

interface Held {
  readonly known: KnownWork;
  readonly progress: Progress;
  readonly outgoing: ServerResponse;
  readonly headers: Record<string, string>;
  readonly repeat: () => void;
}

function holdPoll({ polls, caller }: AgentCtx, { known, progress, outgoing, headers, repeat }: Held): void {
  const { body } = known;
  const poll = {
    ...{ caller, known, repeat, endsAtMs: progress.endsAtMs },
    answer(incarnation: string) {
      progress.endsAtMs = 0;
      if (body === undefined) return repeat();
      outgoing.setHeaders(new Map(Object.entries(headers)));
      outgoing.setHeader(INCARNATION_HEADER, incarnation);
      outgoing.end(body);
    },
  };
  outgoing.once("close", () => polls.drop(poll));
  if (!outgoing.closed) polls.hold(poll);
}
