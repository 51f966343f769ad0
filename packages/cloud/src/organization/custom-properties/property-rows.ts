import type { CustomProperty, PropertyValueType } from "@downlink/protocol";
import type { Complete } from "../../core/complete.ts";
import type { CustomPropertyModel } from "../../db/generated/models.ts";

export function toCustomProperty(row: CustomPropertyModel, hasAssociatedData: boolean): Complete<CustomProperty> {
  const choices = hasChoices(row.valueType) ? row.enumValues : undefined;
  return {
    id: row.id,
    key: row.key,
    label: row.label,
    resourceType: row.resourceType,
    valueType: row.valueType,
    values: choices,
    enumValues: choices,
    hasAssociatedData,
  };
}

/** Says whether values are chosen among `enumValues`. */
export function hasChoices(valueType: PropertyValueType): boolean {
  return valueType === "enum" || valueType === "multi-enum";
}
