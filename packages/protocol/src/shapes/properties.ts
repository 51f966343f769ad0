import { z } from "zod";

/** A custom property's value; which of these it may be, its value type says. Numbers are IEEE 754 64-bit floats. */
export const PropertyValue = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]);
export type PropertyValue = z.infer<typeof PropertyValue>;

/** Custom property values by key. spec: Custom property values */
export const PropertyValues = z.record(z.string(), PropertyValue).meta({ id: "PropertyValues" });
export type PropertyValues = z.infer<typeof PropertyValues>;

/** In an update: keys that are not sent stay as they are, null unsets, keys that are no custom property are ignored. */
export const PropertyChanges = z.record(z.string(), PropertyValue.nullable());
export type PropertyChanges = z.infer<typeof PropertyChanges>;
