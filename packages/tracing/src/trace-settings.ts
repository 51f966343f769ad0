// The settings are those that the SDKs of OpenTelemetry read, so that an operator sets one thing for all programs.

export interface TraceSettings {
  /** Where traces are posted to. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: Readonly<Record<string, string>>;
  /** The share of the traces that begin here which is sent: from 0 to 1. */
  readonly share: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

const TRACES_PATH = "/v1/traces";
const RATIO_SAMPLER = "parentbased_traceidratio";
const samplers: Readonly<Record<string, number>> = { parentbased_always_on: 1, parentbased_always_off: 0 };

/** Reads them; undefined: nothing is traced. Throws a RangeError that names the variable which is wrong. */
export function readTraceSettings(environment: Environment, serviceName: string): TraceSettings | undefined {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SDK_DISABLED: isDisabled } = environment;
  if (!endpoint || isDisabled === "true") return undefined;
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol))
    throw new RangeError("OTEL_EXPORTER_OTLP_ENDPOINT: must be an address such as http://127.0.0.1:4318");
  return {
    url: `${endpoint.replace(/\/+$/, "")}${TRACES_PATH}`,
    headers: readPairs("OTEL_EXPORTER_OTLP_HEADERS", environment),
    resource: {
      "service.name": environment.OTEL_SERVICE_NAME || serviceName,
      ...readPairs("OTEL_RESOURCE_ATTRIBUTES", environment),
    },
    share: readShare(environment),
  };
}

/** Reads `name=value,other=value`, in which a value may be percent-encoded. */
function readPairs(variable: string, environment: Environment): Record<string, string> {
  const listed = (environment[variable] ?? "").split(",").filter((pair) => pair.trim() !== "");
  return Object.fromEntries(listed.map((pair) => readPair(variable, pair)));
}

function readPair(variable: string, pair: string): [string, string] {
  const at = pair.indexOf("=");
  const name = pair.slice(0, at).trim();
  try {
    if (at > 0 && name !== "") return [name, decodeURIComponent(pair.slice(at + 1).trim())];
  } catch {
    // The message is the same, whatever is wrong; the value may be a secret.
  }
  throw new RangeError(`${variable}: must be pairs such as name=value, separated by commas`);
}

function readShare(environment: Environment): number {
  const { OTEL_TRACES_SAMPLER: sampler = "parentbased_always_on", OTEL_TRACES_SAMPLER_ARG: argument = "1" } =
    environment;
  if (sampler === RATIO_SAMPLER) {
    const share = Number(argument);
    if (argument.trim() !== "" && share >= 0 && share <= 1) return share;
    throw new RangeError("OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1");
  }
  const share = samplers[sampler];
  if (share !== undefined) return share;
  const known = [...Object.keys(samplers), RATIO_SAMPLER].join(", ");
  throw new RangeError(`OTEL_TRACES_SAMPLER: must be one of ${known}`);
}
