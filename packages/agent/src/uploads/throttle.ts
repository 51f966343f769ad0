import { type EdgeSettings, edgeLimits } from "@downlink/protocol";
import { nextUploadRateChange, parseUploadRate, type RateRule, uploadRateAt } from "@downlink/protocol/upload-rate";
import { createTurns } from "../loops/turns.ts";
import { createWakeSignal } from "../loops/wake-signal.ts";
import { createUploadWay, type UploadWay } from "../network/upload-way.ts";
import { firstHop } from "../network/way-out.ts";
import type { Settings } from "../settings/settings.ts";
import type { Clock } from "../system/clock.ts";
import { createLinkSpeed, type LinkSpeed, SLOW_BYTES_PER_SECOND } from "./link-speed.ts";
import { createPieceSizes, type PieceSizes } from "./piece-sizes.ts";
import { createRateLimiter, type RateLimiter } from "./rate-limiter.ts";
import type { PauseState, UploadPause } from "./upload-pause.ts";

/** The present limits of uploads, to be shown. */
export interface ThrottleState {
  /** The pause that a user on the device began. */
  readonly pause: PauseState | undefined;
  /** Undefined where there is no limit. */
  readonly bytesPerSecond: number | undefined;
  /** Why nothing is uploaded at all. */
  readonly pausedBecause: string | undefined;
  /** When another rate holds, nanoseconds since the epoch. */
  readonly untilNs: bigint | undefined;
  readonly interfaceName: string | undefined;
  readonly isSlowLink: boolean;
}

/** Limits all uploads together. */
export interface Throttle {
  readonly limiter: RateLimiter;
  readonly linkSpeed: LinkSpeed;
  readonly pieceSizes: PieceSizes;
  /** Where requests have to go one after the other, waits for the turn of a request of this size. */
  takeTurn(bytes: number): Promise<Disposable | undefined>;
  isPaused(): boolean;
  /** How many files go at once. */
  concurrency(): number;
  /** How many parts of each file go at once. */
  partsInFlight(): number;
  /** The part size to ask for; undefined for the usual one. */
  wantedPartBytes(): number | undefined;
  /** The time until the timetable may change the rate; undefined where it never does. */
  msUntilChange(): number | undefined;
  state(): ThrottleState;
  /** Watches the way to the control plane until aborted, where uploads may not take every interface. */
  run(signal: AbortSignal): Promise<void>;
}

export interface ThrottleContext {
  readonly clock: Clock;
  readonly settings: Pick<
    Settings,
    "apiUrl" | "uploadRate" | "uploadConcurrency" | "uploadInterfaces" | "httpProxy" | "httpsProxy" | "noProxy"
  >;
  /** The last settings of the control plane. */
  readonly cloudSettings: () => EdgeSettings | undefined;
  readonly pause: Pick<UploadPause, "current" | "msLeft">;
  /** Is called when uploads have to wait because of the way, or need not wait any more. */
  readonly onChange: () => void;
}

const DEFAULT_CONCURRENCY = 2;
const PARTS_IN_FLIGHT = 3;
/** Rates change at whole minutes only. */
const MINUTE_MS = 60_000;

/** Settings of the device take precedence over those of the control plane. */
export function createThrottle(ctx: ThrottleContext): Throttle {
  const { clock, settings, cloudSettings, pause } = ctx;
  const way = openWay(ctx);
  const cloudRules = cachedParser();
  const rules = () => settings.uploadRate ?? cloudRules(cloudSettings()?.uploadRate);
  const nowMs = () => Number(clock.nowNs() / 1_000_000n);
  const rateNow = () => uploadRateAt(rules(), nowMs());
  const linkSpeed = createLinkSpeed(clock);
  const pieceSizes = createPieceSizes(clock, rateNow);
  const turns = createTurns();
  const isSlow = () => linkSpeed.isSlow() || rateNow() < SLOW_BYTES_PER_SECOND;
  const concurrency = () => settings.uploadConcurrency ?? cloudSettings()?.uploadConcurrency ?? DEFAULT_CONCURRENCY;
  return {
    limiter: createRateLimiter(rateNow, clock),
    linkSpeed,
    pieceSizes,
    takeTurn: async (bytes) =>
      bytes >= edgeLimits.minPieceBytes && pieceSizes.isOneAtATime() ? await turns.take() : undefined,
    isPaused: () => pause.current() !== undefined || rateNow() === 0 || way?.refusal() !== undefined,
    concurrency: () => (isSlow() ? 1 : concurrency()),
    partsInFlight: () => (isSlow() ? 1 : PARTS_IN_FLIGHT),
    wantedPartBytes: () => (isSlow() ? edgeLimits.slowLinkPartBytes : undefined),
    msUntilChange: () => {
      const changeMs = rules().length === 0 ? undefined : MINUTE_MS - (nowMs() % MINUTE_MS);
      return earlier(pause.msLeft(), changeMs);
    },
    run: (signal) => (way ? way.run(signal) : createWakeSignal().wait(signal)),
    state() {
      const rate = rateNow();
      const changeMs = nextUploadRateChange(rules(), nowMs());
      const paused = pause.current();
      return {
        pause: paused,
        bytesPerSecond: rate === Number.POSITIVE_INFINITY ? undefined : rate,
        pausedBecause:
          (paused && describePause(paused)) ?? way?.refusal() ?? (rate === 0 ? "the upload rate is off" : undefined),
        untilNs: paused ? endOf(paused) : toNs(changeMs),
        interfaceName: way?.interfaceName(),
        isSlowLink: linkSpeed.isSlow(),
      };
    },
  };
}

function describePause({ by, until }: PauseState): string {
  return `by ${by}${until === undefined ? ", until `agent resume`" : ""}`;
}

function endOf({ until }: PauseState): bigint | undefined {
  return until === undefined ? undefined : BigInt(Date.parse(until)) * 1_000_000n;
}

function toNs(timeMs: number | undefined): bigint | undefined {
  return timeMs === undefined ? undefined : BigInt(timeMs) * 1_000_000n;
}

function earlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

/** Opens the way that uploads take; undefined where they may take every way. */
function openWay({ settings, onChange }: ThrottleContext): UploadWay | undefined {
  const { apiUrl: url, uploadInterfaces: rules } = settings;
  if (url === undefined || rules === undefined) return undefined;
  return createUploadWay({ url: firstHop(url, settings), rules, onChange });
}

/** The control plane checked its setting. One that this agent does not understand sets no limit. */
function cachedParser(): (text: string | undefined) => readonly RateRule[] {
  let known: { readonly text: string | undefined; readonly rules: readonly RateRule[] } | undefined;
  return (text) => {
    if (known?.text !== text || !known) known = { text, rules: parseOrNone(text) };
    return known.rules;
  };
}

function parseOrNone(text: string | undefined): readonly RateRule[] {
  try {
    return text === undefined ? [] : parseUploadRate(text);
  } catch (error) {
    if (error instanceof RangeError) return [];
    throw error;
  }
}
