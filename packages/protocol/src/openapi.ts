import { z } from "zod";
import { ErrorBody, type ErrorCode, errorCodes } from "./errors.ts";
import { exampleOf } from "./openapi-example.ts";
import { type Contract, type Operation, pathParameters } from "./operation.ts";
import { aliasesOf } from "./shapes/query.ts";

type Json = Record<string, unknown>;
type Api = Readonly<Record<string, Contract>>;

const COMPONENTS = "#/components/schemas/";

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
      const described = describe(operation, schemas);
      paths[operation.path] = {
        ...paths[operation.path],
        [operation.method]: { operationId: `${resource}.${name}`, tags: [resource], ...described },
      };
    }
  return {
    openapi: "3.1.0",
    info: { ...info, license: { name: "Apache-2.0", identifier: "Apache-2.0" } },
    servers: [{ url: serverUrl }],
    tags: Object.keys(api).map((name) => ({ name })),
    paths,
    components: {
      schemas,
      responses: errorResponses(),
      securitySchemes: {
        apiKey: { type: "http", scheme: "bearer", description: "An API key that holds the operation's capability" },
        agentToken: { type: "http", scheme: "bearer", description: "The token of a device or of an edge site" },
        enrolmentToken: { type: "http", scheme: "bearer", description: "A device token that belongs to no device yet" },
      },
    },
  };
}

const securitySchemes = { apiKey: "apiKey", agent: "agentToken", enrolment: "enrolmentToken" } as const;

function describe(operation: Operation, schemas: Json): Json {
  const { summary, description, access, body, response, responseHeaders } = operation;
  const scope = access.kind === "apiKey" ? `Needs the capability \`${access.capability}\`.` : undefined;
  return {
    summary,
    description: [description, scope].filter(Boolean).join("\n\n") || summary,
    security: [{ [securitySchemes[access.kind]]: [] }],
    parameters: [
      ...pathParameters(operation.path).map((name) => pathParameter(operation, name)),
      ...queryParameters(operation),
    ],
    ...(body && { requestBody: { required: hasRequired(body), content: json(wire(body, schemas), schemas) } }),
    responses: {
      ...(response
        ? { 200: { description: "Done", ...headers(responseHeaders), content: json(wire(response, schemas), schemas) } }
        : { 204: { description: "Done" } }),
      ...Object.fromEntries(
        statusesOf(operation).map((status) => [status, { $ref: `#/components/responses/${status}` }]),
      ),
    },
  };
}

function pathParameter({ params }: Operation, name: string): Json {
  const { description, ...schema } = wire(params!.shape[name] as z.ZodType, {});
  return { name, in: "path", required: true, schema, ...(description !== undefined && { description }) };
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

function headers(declared: Operation["responseHeaders"]): Json {
  if (!declared) return {};
  const described = Object.entries(declared.shape).map(([name, field]) => {
    const { description, ...schema } = wire(field as z.ZodType, {});
    return [name, { schema, ...(description !== undefined && { description }) }];
  });
  return { headers: Object.fromEntries(described) };
}

function hasRequired(body: z.ZodObject): boolean {
  return !body.safeParse({}).success;
}

/** The wire side of a schema; what has an id moves to the components. */
function wire(schema: z.ZodType, schemas: Json): Json {
  const {
    $schema: _,
    $defs = {},
    ...told
  } = z.toJSONSchema(schema, { io: "input", target: "draft-2020-12" }) as Json & { $defs?: Json };
  for (const [id, definition] of Object.entries($defs)) schemas[id] = relink(definition);
  return relink(told);
}

/** References into a schema's own definitions become references into the document; our own annotations go. */
function relink(value: unknown): Json {
  return JSON.parse(
    JSON.stringify(value, (key, inner: unknown) => (key === "aliases" ? undefined : inner)).replaceAll(
      "#/$defs/",
      COMPONENTS,
    ),
  ) as Json;
}

function json(schema: Json, schemas: Json): Json {
  return { "application/json": { schema, example: exampleOf(schema, schemas) } };
}

function statusesOf({ params, query, body }: Operation): number[] {
  const found = params || query || body ? [400, 404] : [];
  return [401, 403, ...found, ...(body ? [409, 413] : []), 429, 503].sort();
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
