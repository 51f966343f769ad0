import type { z } from "zod";
import { ErrorBody, type ErrorCode, errorCodes } from "../operations/errors.ts";
import {
  type Access,
  bodyLimits,
  type Contract,
  IDEMPOTENCY_HOURS,
  MAX_IDEMPOTENCY_KEY_CHARACTERS,
  MAX_QUERY_PARAMETERS,
  type Method,
  type Operation,
  pathParameters,
} from "../operations/operation.ts";
import { aliasesOf } from "../shapes/query.ts";
import { bodyExamples } from "./body-examples.ts";
import { deliveryHeaders, describeWebhooks } from "./describe-webhooks.ts";
import { exampleOf } from "./openapi-example.ts";
import type { PlainRoute } from "./plain-route.ts";
import { plainRoutes } from "./plain-routes.ts";
import { COMPONENTS, type Json, jsonContent, wire } from "./wire-schema.ts";

type Api = Readonly<Record<string, Contract>>;

const limitsText = `A query has at most ${MAX_QUERY_PARAMETERS} parameters, and the request line and headers have 64 KiB. No body is taken with a \`Content-Encoding\`. The limits of a text, list or number are in the description of its field.`;

/** The whole interface as an OpenAPI 3.1 document. */
export function toOpenApi(
  api: Api,
  service: { title: string; version: string; description: string; serverUrl: string },
): Json {
  const { serverUrl, ...info } = service;
  const schemas: Json = {};
  wire(ErrorBody, schemas);
  const paths: Record<string, Json> = {};
  for (const [resource, contract] of Object.entries(api))
    for (const [name, operation] of Object.entries(contract)) {
      const operationId = `${resource}.${name}`;
      paths[operation.path] = {
        ...paths[operation.path],
        [operation.method]: { operationId, tags: [resource], ...describe(operationId, operation, schemas) },
      };
    }
  for (const route of plainRoutes)
    paths[route.path] = { ...paths[route.path], [route.method]: describePlainRoute(route) };
  return {
    openapi: "3.1.0",
    info: {
      ...info,
      description: `${info.description}\n\n${limitsText}`,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: serverUrl }],
    tags: [...Object.keys(api), ...plainTags(api)].map((name) => ({ name })),
    paths,
    webhooks: describeWebhooks(schemas),
    components: {
      schemas,
      parameters: deliveryHeaders(),
      responses: errorResponses(),
      securitySchemes: {
        apiKey: {
          type: "http",
          scheme: "bearer",
          description: "An API key that holds the operation's capability, or the session of a member whose role does",
        },
        person: { type: "http", scheme: "bearer", description: "Any API key, or the text of a session" },
        agentToken: { type: "http", scheme: "bearer", description: "The token of a device or of an edge site" },
        enrolmentToken: { type: "http", scheme: "bearer", description: "A device token that belongs to no device yet" },
        inboxToken: { type: "http", scheme: "bearer", description: "An inbox notification token" },
        siteToken: { type: "http", scheme: "bearer", description: "The token of a self-hosted site" },
        uploadCapability: {
          type: "http",
          scheme: "bearer",
          description: "The capability for one upload at a self-hosted site, which the opening of the upload gave",
        },
      },
    },
  };
}

const securitySchemes = {
  apiKey: "apiKey",
  person: "person",
  agent: "agentToken",
  enrolment: "enrolmentToken",
  inbox: "inboxToken",
  site: "siteToken",
  upload: "uploadCapability",
} as const;

function describe(operationId: string, operation: Operation, schemas: Json): Json {
  const { method, summary, description, access, body, response, responseHeaders } = operation;
  const owner = operationId.split(".")[0]!;
  const contentOf = (type: z.ZodType, example?: unknown): Json => {
    const schema = wire(type, schemas);
    return jsonContent(schema, example ?? exampleOf(schema, schemas, { owner }));
  };
  return {
    summary,
    description: [description, needsOf(access)].filter(Boolean).join("\n\n") || summary,
    security: [{ [securitySchemes[access.kind]]: access.kind === "apiKey" ? [access.capability] : [] }],
    parameters: [
      ...pathParameters(operation.path).map((name) => pathParameter(operation, name)),
      ...queryParameters(operation),
      ...idempotencyParameters(operation),
      ...matchParameters(operation),
    ],
    ...(body && { requestBody: { ...bodyOf(operation), content: contentOf(body, bodyExamples[operationId]) } }),
    responses: {
      ...(response
        ? {
            200: {
              description: "Done",
              ...headers(responseHeaders),
              content: contentOf(response),
            },
          }
        : { 204: { description: "Done" } }),
      ...(response && method === "get" && { 304: { description: "The caller has this answer, by `If-None-Match`" } }),
      ...Object.fromEntries(
        statusesOf(operation).map((status) => [status, { $ref: `#/components/responses/${status}` }]),
      ),
    },
  };
}

function needsOf(access: Access): string | undefined {
  if (access.kind !== "apiKey") return undefined;
  const needs = `Needs the capability \`${access.capability}\``;
  return access.reach === "organization" ? `${needs} and all projects: else 403 \`ProjectLimited\`.` : `${needs}.`;
}

function pathParameter({ path, params }: Operation, name: string): Json {
  const { description, ...schema } = wire(params!.shape[name] as z.ZodType, {});
  const owner = path
    .slice(0, path.indexOf(`/{${name}}`))
    .split("/")
    .at(-1)!
    .replaceAll("-", "");
  const example = exampleOf(schema, {}, { name, owner });
  return { name, in: "path", required: true, schema, example, ...(description !== undefined && { description }) };
}

function queryParameters({ query }: Operation): Json[] {
  if (!query) return [];
  return Object.entries(query.shape).flatMap(([name, given]) => {
    const field = given as z.ZodType;
    const { description, deprecated, aliases: _, ...schema } = wire(field, {});
    const parameter = { in: "query", required: !field.safeParse(undefined).success, schema };
    const documented = {
      ...(description !== undefined && { description }),
      ...(deprecated === true && { deprecated }),
    };
    const deprecatedNames = aliasesOf(field).map((alias) => ({
      ...parameter,
      name: alias,
      deprecated: true,
      description: `Use \`${name}\``,
    }));
    return [{ name, ...parameter, ...documented }, ...deprecatedNames];
  });
}

function idempotencyParameters({ makes }: Pick<Operation, "makes">): Json[] {
  if (makes === undefined || makes === "nothing") return [];
  const schema = { type: "string", minLength: 1, maxLength: MAX_IDEMPOTENCY_KEY_CHARACTERS };
  const description = [
    `Chosen at random by the caller for one thing to be made: a repeat of the call with the same key within ${IDEMPOTENCY_HOURS} hours makes no other`,
    repeats[makes.repeat],
    "With another request it is 409 `IdempotencyConflict`, and while the first call is under way, after five seconds, too.",
  ].join(" ");
  return [{ name: "Idempotency-Key", in: "header", required: false, schema, description }];
}

function matchParameters({ method, path }: Operation): Json[] {
  if (!mayMatch(method) || !path.includes("{")) return [];
  const description =
    "The `ETag` that `get` answered, without a query: if the thing has changed since, nothing is done (412). Where `get` answers none, it is 412 as well.";
  return [{ name: "If-Match", in: "header", required: false, schema: { type: "string" }, description }];
}

function mayMatch(method: Method): boolean {
  return method === "put" || method === "patch" || method === "delete";
}

const repeats = {
  answer: "and gets the first answer, refusals included.",
  link: "and gets the first answer, with a link that may be another.",
  secret: "and gets 409 `SecretAlreadyShown`, which names it: what is shown once is not kept.",
} as const;

function headers(declared: Operation["responseHeaders"]): Json {
  if (!declared) return {};
  const described = Object.entries(declared.shape).map(([name, field]) => {
    const { description, ...schema } = wire(field as z.ZodType, {});
    return [name, { schema, ...(description !== undefined && { description }) }];
  });
  return { headers: Object.fromEntries(described) };
}

function bodyOf({ body, bodySize = "ordinary" }: Operation): Json {
  const { bytes, values } = bodyLimits[bodySize];
  return { required: hasRequired(body!), description: `At most ${bytes / 1024 ** 2} MiB and ${values} values` };
}

function hasRequired(body: z.ZodObject): boolean {
  return !body.safeParse({}).success;
}

/** Returns the statuses of an operation's refusals. A call that names nothing is never answered 404. */
function statusesOf({ method, access, params, query, body }: Operation): number[] {
  const named = params || query || body ? [404] : [];
  const leased = access.kind === "agent" || access.kind === "site" ? [409] : [];
  const sent = body ? [408, 413, 415] : [];
  const matched = mayMatch(method) ? [412] : [];
  return [...new Set([400, 401, 403, ...named, ...sent, ...matched, ...leased, ...commonStatuses(method)])].sort();
}

/** Returns the statuses with which every route may fail. A call that changes nothing neither conflicts nor needs storage. */
function commonStatuses(method: Method): number[] {
  return method === "get" ? [429, 500, 503] : [409, 429, 500, 503, 507];
}

function errorResponses(): Json {
  const byStatus = Map.groupBy(Object.entries(errorCodes), ([, { status }]) => status);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => {
      const description = codes.map(([code, { meaning }]) => `\`${code}\`: ${meaning}`).join("\n\n");
      const example = { error: codes[0]![1].meaning, code: codes[0]![0] as ErrorCode };
      return [
        status,
        { description, content: { "application/json": { schema: { $ref: `${COMPONENTS}Error` }, example } } },
      ];
    }),
  );
}

function plainTags(api: Api): string[] {
  return [...new Set(plainRoutes.map(tagOf))].filter((tag) => !(tag in api));
}

function tagOf({ called }: PlainRoute): string {
  return called.split(".")[0]!;
}

function describePlainRoute(route: PlainRoute): Json {
  const { called: operationId, method, path, summary, description, access, takes, answers, refusals } = route;
  const isOfKey = typeof access === "object";
  const needs = isOfKey ? needsOf({ kind: "apiKey", reach: "projects", ...access }) : undefined;
  const byLink = access === "link" ? "The link is the credential: as it was answered, with its query." : undefined;
  return {
    ...{ operationId, tags: [tagOf(route)], summary },
    description: [description, needs, byLink].filter(Boolean).join("\n\n") || summary,
    security: isOfKey ? [{ apiKey: [access.capability] }] : [],
    parameters: [
      ...pathParameters(path).map((name) => ({ name, in: "path", required: true, schema: { type: "string" } })),
      ...idempotencyParameters(route),
    ],
    ...(takes && { requestBody: { required: true, content: { [takes]: { schema: {} } } } }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, describeAnswer(answer)])),
      ...Object.fromEntries(
        [...refusals, ...commonStatuses(method)].map((status) => [
          status,
          { $ref: `#/components/responses/${status}` },
        ]),
      ),
    },
  };
}

function describeAnswer({ description, mediaType }: PlainRoute["answers"][number]): Json {
  return { description, ...(mediaType && { content: { [mediaType]: { schema: {} } } }) };
}
