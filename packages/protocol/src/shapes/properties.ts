import { z } from "zod";
import { anyKeys } from "./any-keys.ts";
import { StorableText } from "./text.ts";

/** A custom property's value. Its value type says which of these it may be. Numbers are IEEE 754 64-bit floats. */
export const PropertyValue = z.union([StorableText, z.number(), z.boolean(), z.array(StorableText)]);
export type PropertyValue = z.infer<typeof PropertyValue>;

/** Custom property values by key. spec: Custom property values */
export const PropertyValues = z.record(z.string(), PropertyValue).meta({ id: "PropertyValues" });
export type PropertyValues = z.infer<typeof PropertyValues>;

/**
 * The changes of an update: keys that are not sent stay as they are, null unsets a value, and keys that are no custom property are ignored,
 * whatever their values are. So the values can be checked only where the properties are known.
 */
export const PropertyChanges = anyKeys<PropertyValue | null>(z.toJSONSchema(PropertyValue.nullable(), { io: "input" }));
export type PropertyChanges = z.infer<typeof PropertyChanges>;
