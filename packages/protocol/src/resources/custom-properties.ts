import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { page } from "../shapes/list.ts";
import { withAliases } from "../shapes/query.ts";
import { Id, StorableText } from "../shapes/text.ts";

export const PropertyKey = z
  .string()
  .min(1)
  .max(32)
  .regex(/^[A-Za-z0-9_-]+$/, "may hold letters, digits, and the characters _ -")
  .refine((key) => key !== "__proto__", "must not be __proto__, which JavaScript clients cannot read");
const Label = StorableText.min(1).max(32);

export const PropertyResourceType = z.enum(["device", "event", "session"]);
export type PropertyResourceType = z.infer<typeof PropertyResourceType>;
export const PropertyValueType = z.enum(["string", "multiline-string", "number", "enum", "boolean", "multi-enum"]);
export type PropertyValueType = z.infer<typeof PropertyValueType>;

const uniqueStrings = z
  .array(StorableText.min(1).max(256))
  .max(1000)
  .refine((values) => new Set(values).size === values.length, "must hold each value once");
/** `values` is the deprecated name of `enumValues`; the latter wins. */
const EnumValues = withAliases(
  uniqueStrings.optional().meta({ description: "The values that an enum or multi-enum may hold; required for those" }),
  ["values"],
);

export const CustomProperty = z
  .object({
    id: z.string(),
    key: PropertyKey.meta({ description: "Immutable; used in queries" }),
    label: Label,
    resourceType: PropertyResourceType,
    valueType: PropertyValueType,
    values: z.array(z.string()).optional().meta({ deprecated: true, description: "Superseded by enumValues" }),
    enumValues: z.array(z.string()).optional(),
    hasAssociatedData: z
      .boolean()
      .meta({ description: "Whether any resource that the caller sees has a value of it, or a device had one" }),
  })
  .meta({ id: "CustomProperty" });
export type CustomProperty = z.infer<typeof CustomProperty>;

const params = z.object({ id: Id });

export const customProperties = {
  list: operation({
    method: "get",
    path: "/v1/custom-properties",
    access: apiKey("properties.list", "shared"),
    summary: "List custom properties",
    query: z.object({ resourceType: PropertyResourceType.optional(), ...page }),
    response: z.array(CustomProperty),
  }),
  create: operation({
    method: "post",
    path: "/v1/custom-properties",
    audits: "customProperty",
    makes: { repeat: "answer", idField: "id" },
    access: apiKey("properties.create", "organization"),
    summary: "Create a custom property",
    body: z.object({
      key: PropertyKey,
      label: Label,
      resourceType: PropertyResourceType,
      valueType: PropertyValueType,
      enumValues: EnumValues,
    }),
    response: CustomProperty,
  }),
  get: operation({
    method: "get",
    path: "/v1/custom-properties/{id}",
    access: apiKey("properties.list", "shared"),
    summary: "Get a custom property",
    params,
    response: CustomProperty,
  }),
  update: operation({
    method: "patch",
    path: "/v1/custom-properties/{id}",
    audits: "customProperty",
    access: apiKey("properties.update", "organization"),
    summary: "Change a custom property's label, or reorder or add enum values",
    params,
    body: z.object({ label: Label.optional(), enumValues: EnumValues }),
    response: CustomProperty,
  }),
  delete: operation({
    method: "delete",
    path: "/v1/custom-properties/{id}",
    audits: "customProperty",
    access: apiKey("properties.delete", "organization"),
    isExpensive: true,
    summary: "Delete a custom property; one of devices goes with all its values, another only when no value uses it",
    params,
    response: z.object({ id: z.string() }),
  }),
};
