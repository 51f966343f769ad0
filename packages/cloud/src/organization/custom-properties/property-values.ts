import {
  isStorable,
  type PropertyChanges,
  type PropertyValue,
  type PropertyValues,
  type PropertyValueType,
} from "@downlink/protocol";
import { invalidAt } from "../../core/errors.ts";

/** The definition that a value is checked against. */
export interface PropertyDefinition {
  readonly key: string;
  readonly valueType: PropertyValueType;
  readonly enumValues: readonly string[];
}

/** The longest text that a value may hold, in UTF-16 code units. */
export const MAX_TEXT_LENGTH = { string: 4096, "multiline-string": 32_768 } as const;

/**
 * Returns the changes of custom properties that exist: unknown keys are ignored, and null removes a value. Throws a 400 that names each
 * value which does not fit its type as `properties.<key>`.
 */
export function checkPropertyChanges(
  definitions: readonly PropertyDefinition[],
  changes: PropertyChanges,
): PropertyChanges {
  const known = definitions.filter(({ key }) => Object.hasOwn(changes, key));
  const details = known.flatMap((definition) => {
    const message = faultOfChange(definition, changes[definition.key]!);
    return message === undefined ? [] : [{ path: `properties.${definition.key}`, message }];
  });
  if (details.length > 0) throw invalidAt(details);
  return Object.fromEntries(known.map(({ key }) => [key, changes[key]!]));
}

/** Keys that are not sent stay as they are, and null removes a value. */
export function applyPropertyChanges(current: PropertyValues, changes: PropertyChanges): PropertyValues {
  const merged = Object.entries({ ...current, ...changes });
  return Object.fromEntries(merged.filter((entry): entry is [string, PropertyValue] => entry[1] !== null));
}

/** Throws a 400 that names `path` where the value does not fit the property's type. */
export function checkPropertyValue(definition: PropertyDefinition, value: PropertyValue, path: string): void {
  const message = faultOf(definition, value);
  if (message !== undefined) throw invalidAt([{ path, message }]);
}

function faultOfChange(definition: PropertyDefinition, change: PropertyValue | null): string | undefined {
  return change === null ? undefined : faultOf(definition, change);
}

/** Returns why the value does not fit, or undefined if it does. */
function faultOf(definition: PropertyDefinition, value: PropertyValue): string | undefined {
  const allowed = definition.enumValues;
  switch (definition.valueType) {
    case "string":
      return faultOfText(value, MAX_TEXT_LENGTH.string);
    case "multiline-string":
      return faultOfText(value, MAX_TEXT_LENGTH["multiline-string"]);
    case "number":
      return Number.isFinite(value) ? undefined : "must be a finite number";
    case "boolean":
      return typeof value === "boolean" ? undefined : "must be true or false";
    case "enum":
      return typeof value === "string" && allowed.includes(value) ? undefined : `must be one of ${listValues(allowed)}`;
    case "multi-enum":
      return faultOfMembers(value, allowed);
    default:
      return definition.valueType satisfies never;
  }
}

function faultOfText(value: PropertyValue, maxLength: number): string | undefined {
  if (typeof value !== "string") return "must be a text";
  if (value.length > maxLength) return `must be at most ${maxLength} characters long`;
  if (!isStorable(value)) return "must hold no NUL and no half of a surrogate pair";
  return undefined;
}

function faultOfMembers(value: PropertyValue, allowed: readonly string[]): string | undefined {
  if (!Array.isArray(value) || !value.every((member) => typeof member === "string"))
    return `must be an array of values among ${listValues(allowed)}`;
  const members = new Set(allowed);
  const stranger = value.find((member) => !members.has(member));
  if (stranger !== undefined) return `holds ${JSON.stringify(stranger)}, which is none of ${listValues(allowed)}`;
  return new Set(value).size === value.length ? undefined : "must hold each value once";
}

const MAX_LISTED = 20;

function listValues(values: readonly string[]): string {
  const shown = values.slice(0, MAX_LISTED).map((value) => JSON.stringify(value));
  return values.length > MAX_LISTED ? `${shown.join(", ")} and ${values.length - MAX_LISTED} more` : shown.join(", ");
}
