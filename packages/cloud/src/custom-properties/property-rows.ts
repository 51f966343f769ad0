import type { CustomProperty, PropertyResourceType, PropertyValueType } from "@downlink/protocol";
import type { CustomPropertyModel } from "../db/generated/models.ts";

export function toCustomProperty(row: CustomPropertyModel, hasAssociatedData: boolean): CustomProperty {
  const valueType = row.valueType as PropertyValueType;
  return {
    id: row.id,
    key: row.key,
    label: row.label,
    resourceType: row.resourceType as PropertyResourceType,
    valueType,
    ...(hasChoices(valueType) && { values: row.enumValues, enumValues: row.enumValues }),
    hasAssociatedData,
  };
}

/** Whether values are chosen among `enumValues`. */
export function hasChoices(valueType: string): boolean {
  return valueType === "enum" || valueType === "multi-enum";
}
