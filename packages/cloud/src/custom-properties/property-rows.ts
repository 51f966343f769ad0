import type { CustomProperty, PropertyResourceType, PropertyValueType } from "@downlink/protocol";
import type { Complete } from "../core/complete.ts";
import type { CustomPropertyModel } from "../db/generated/models.ts";

export function toCustomProperty(row: CustomPropertyModel, hasAssociatedData: boolean): Complete<CustomProperty> {
  const valueType = row.valueType as PropertyValueType;
  const choices = hasChoices(valueType) ? row.enumValues : undefined;
  return {
    id: row.id,
    key: row.key,
    label: row.label,
    resourceType: row.resourceType as PropertyResourceType,
    valueType,
    values: choices,
    enumValues: choices,
    hasAssociatedData,
  };
}

/** Whether values are chosen among `enumValues`. */
export function hasChoices(valueType: string): boolean {
  return valueType === "enum" || valueType === "multi-enum";
}
