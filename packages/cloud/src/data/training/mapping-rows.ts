import { type DatasetMapping, TrainingMapping } from "@downlink/protocol";
import type { Complete } from "../../core/complete.ts";
import { toComplete } from "../../core/complete.ts";
import type { DatasetMappingModel } from "../../db/generated/models.ts";

export function toMapping(row: DatasetMappingModel): Complete<DatasetMapping> {
  const { id, datasetId, name, revision, sha256, createdAtNs: createdAt } = row;
  return { id, datasetId, name, revision, sha256, createdAt, mapping: toComplete(readMapping(row)) };
}

export function readMapping({ text }: Pick<DatasetMappingModel, "text">): TrainingMapping {
  return TrainingMapping.parse(JSON.parse(text));
}
