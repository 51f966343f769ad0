import type { z } from "zod";
import { mayBeKept } from "../operations/answers.ts";
import { ErrorBody, type ErrorCode, errorCodes } from "../operations/errors.ts";
import {
  type Access,
  bodyLimits,
  type Contract,
  MAX_QUERY_PARAMETERS,
  type Method,
  type Operation,
  pathParameters,
} from "../operations/operation.ts";
import { aliasesOf } from "../shapes/query.ts";
import { headerComponents, headersOf, headersOfCall, headersOfSuccess } from "./answer-headers.ts";
import { bodyExamples } from "./body-examples.ts";
import { deliveryHeaders, describeWebhooks } from "./describe-webhooks.ts";
import { exampleOf } from "./openapi-example.ts";
import type { PlainContent, PlainRoute } from "./plain-route.ts";
import { plainRoutes } from "./plain-routes.ts";
import { headerParameter, headerParameters, idempotencyParameters, mayMatch } from "./request-headers.ts";
import { COMPONENTS, formerName, type Json, jsonContent, wire, wireBody } from "./wire-schema.ts";

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
    paths[route.path] = { ...paths[route.path], [route.method]: describePlainRoute(route, schemas) };
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
      headers: headerComponents(),
      responses: errorResponses(),
      securitySchemes: schemes,
    },
  };
}

/** The kinds of credentials. */
const schemes = {
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
} as const;

/** The credential of each kind of access. */
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
  const { summary, description, deprecatedSince, access, body } = operation;
  const owner = operationId.split(".")[0]!;
  const contentOf = (schema: Json, example?: unknown): Json =>
    jsonContent(schema, example ?? exampleOf(schema, schemas, { owner }));
  return {
    summary,
    description: [description, needsOf(access)].filter(Boolean).join("\n\n") || summary,
    ...(deprecatedSince && { deprecated: true }),
    security: [{ [securitySchemes[access.kind]]: access.kind === "apiKey" ? [access.capability] : [] }],
    parameters: [
      ...pathParameters(operation.path).map((name) => pathParameter(operation, name)),
      ...queryParameters(operation),
      ...headerParameters(operation),
    ],
    ...(body && {
      requestBody: { ...bodyOf(operation), content: contentOf(wireBody(body, schemas), bodyExamples[operationId]) },
    }),
    responses: {
      ...describeSuccess(operation, (response) => contentOf(wire(response, schemas))),
      ...Object.fromEntries(
        statusesOf(operation).map((status) => [status, { $ref: `#/components/responses/${status}` }]),
      ),
    },
  };
}

function describeSuccess(operation: Operation, contentOf: (type: z.ZodType) => Json): Json {
  const { response, streamsEvents } = operation;
  const own = headersOfSuccess(operation);
  if (!response) return { 204: { description: "Done", headers: headersOf(204, own) } };
  const events = { "text/event-stream": { schema: { type: "string", description: "Each event has such an answer" } } };
  const headers = { ...headersOf(200, own), ...declaredHeaders(operation) };
  const content = { ...contentOf(response), ...(streamsEvents && events) };
  const known = { description: "The caller has this answer, by `If-None-Match`", headers: headersOf(304, own) };
  return { 200: { description: "Done", headers, content }, ...(mayBeKept(operation) && { 304: known }) };
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

function queryParameters({ query }: Pick<Operation, "query">): Json[] {
  if (!query) return [];
  return Object.entries(query.shape).flatMap(([name, given]) => {
    const field = given as z.ZodType;
    const { description, deprecated, aliases: _, ...schema } = wire(field, {});
    const required = !field.safeParse(undefined).success;
    const parameter = { in: "query", required, schema };
    const documented = {
      ...(required && { example: exampleOf(schema, {}, { name }) }),
      ...(description !== undefined && { description }),
      ...(deprecated === true && { deprecated }),
    };
    const deprecatedNames = aliasesOf(field).map((alias) => ({
      ...parameter,
      ...{ name: alias, ...formerName(name) },
    }));
    return [{ name, ...parameter, ...documented }, ...deprecatedNames];
  });
}

/** Returns the headers that the contract of an operation declares. */
function declaredHeaders({ responseHeaders }: Operation): Json {
  return Object.fromEntries(
    Object.entries(responseHeaders?.shape ?? {}).map(([name, field]) => {
      const { description, ...schema } = wire(field as z.ZodType, {});
      return [name, { schema, ...(description !== undefined && { description }) }];
    }),
  );
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
        {
          description,
          headers: headersOf(Number(status)),
          content: jsonContent({ $ref: `${COMPONENTS}Error` }, example),
        },
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

function describePlainRoute(route: PlainRoute, schemas: Json): Json {
  const { called: operationId, method, path, summary, description, access, takes, refusals } = route;
  const isOfKey = typeof access === "object";
  const needs = isOfKey ? needsOf({ kind: "apiKey", reach: "projects", ...access }) : undefined;
  const byLink = access === "link" ? "The link is the credential: as it was answered, with its query." : undefined;
  return {
    ...{ operationId, tags: [tagOf(route)], summary },
    description: [description, needs, byLink].filter(Boolean).join("\n\n") || summary,
    security: isOfKey ? [{ apiKey: [access.capability] }] : [],
    parameters: [
      ...pathParameters(path).map((name) => ({
        ...{ name, in: "path", required: true, schema: { type: "string" } },
        ...(name === "key" && { description: "It has slashes, which are not encoded" }),
        example: exampleOf({ type: "string" }, {}, { name, owner: tagOf(route) }),
      })),
      ...queryParameters(route),
      ...(route.headers ?? []).map(headerParameter),
      ...idempotencyParameters(route),
    ],
    ...(takes && {
      requestBody: { required: true, content: describeContent(takes, schemas, bodyExamples[operationId]) },
    }),
    responses: {
      ...describeAnswers(route, schemas),
      ...Object.fromEntries(
        [...refusals, ...commonStatuses(method)].map((status) => [
          status,
          { $ref: `#/components/responses/${status}` },
        ]),
      ),
    },
  };
}

function describeAnswers({ answers, makes, takes }: PlainRoute, schemas: Json): Json {
  const common = headersOfCall({ makes, body: typeof takes === "object" ? takes : undefined });
  return Object.fromEntries(
    Object.entries(answers).map(([status, { description, content, headers = [] }]) => [
      status,
      {
        ...{ description, headers: headersOf(Number(status), [...common, ...headers]) },
        ...(content && { content: describeContent(content, schemas) }),
      },
    ]),
  );
}

/** Describes JSON by its schema, and all else by its media type. */
function describeContent(content: PlainContent, schemas: Json, example?: unknown): Json {
  if (typeof content !== "string") {
    const schema = wire(content, schemas);
    return jsonContent(schema, example ?? exampleOf(schema, schemas));
  }
  return { [content]: { schema: { type: "string", ...(!content.startsWith("text/") && { format: "binary" }) } } };
}
