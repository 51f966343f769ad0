import type { SiteFindings } from "@downlink/protocol";
import { judgeSummary } from "@downlink/recordings";
import type { ImportableSummary } from "../../background/indexing/judge-file.ts";
import type { ImportRequestModel } from "../../db/generated/models.ts";
import { IngestError } from "../../imports/ingest/ingest-failure.ts";

/** Returns the summary of a file as if it had been read here. The site's word is judged by the rules for all files. */
export function toSummary(
  found: SiteFindings,
  { sizeBytes }: Pick<ImportRequestModel, "sizeBytes">,
): ImportableSummary {
  const { sha256: _, schemas, topics, ...facts } = found;
  if (BigInt(found.sizeBytes) !== sizeBytes || found.startNs > found.endNs)
    throw new IngestError("FindingsUnreadable", "what the site found is not of the file that it had stored");
  const texts = new Map(schemas.map(({ sha256, data }) => [sha256, data]));
  const withSchema = ({ schemaSha256, ...topic }: SiteFindings["topics"][number]) => {
    const schema = texts.get(schemaSha256);
    if (!schema) throw new IngestError("FindingsUnreadable", `the schema of topic ${topic.topic} is missing`);
    return { ...topic, schemaSha256, schema };
  };
  const summary = { ...facts, topics: topics.map(withSchema), method: "scan" } as ImportableSummary;
  const refusal = judgeSummary(summary);
  if (refusal) throw new IngestError(refusal.code, refusal.text);
  return summary;
}
