import { type ExportFormat, exportFormats } from "@downlink/protocol";
import { useState } from "preact/hooks";
import type { ChosenTopics } from "../parts/choose-topics.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Failed } from "../parts/failed.tsx";
import { SelectField } from "../parts/select.tsx";
import { SpanFields } from "../parts/span-fields.tsx";
import { TopicChoice } from "../parts/topic-choice.tsx";
import { formatExact, zoneName } from "../time/format-time.ts";
import { readSpan, type SpanProblems } from "../time/read-span.ts";
import { zone } from "../time/zone.ts";
import "./export.css";
import type { ExportSource } from "./export-source.ts";
import type { ExportOptions } from "./export-text.ts";
import { ExportWays } from "./export-ways.tsx";
import { useOffer } from "./use-offer.ts";
import { ViewerWays } from "./viewer-ways.tsx";

interface ExportProps {
  readonly source: ExportSource;
  /** Absent: it is exported. */
  readonly purpose?: "open";
  readonly onClose: () => void;
}

interface Form {
  readonly topics: ChosenTopics;
  readonly from: string;
  readonly to: string;
  readonly format: ExportFormat;
  readonly compression: "" | "lz4" | "zstd";
}

/** Gives an exact part of recordings as a file, a link, or the command that fetches it; or opens it in a viewer. */
export function ExportDialog({ source, purpose, onClose }: ExportProps) {
  const { startNs, endNs } = source.span;
  const [form, setForm] = useState<Form>({
    topics: undefined,
    from: formatExact(startNs),
    to: formatExact(endNs),
    format: "mcap",
    compression: "lz4",
  });
  const offer = useOffer(source);
  const { options, problems } = toOptions(source, form);
  const change = (changed: Partial<Form>) => setForm({ ...form, ...changed });
  return (
    <Dialog title={purpose ? "Open in a viewer" : "Export"} onClose={onClose} isWide>
      <div class="stack">
        {offer.topics.failure && <Failed failure={offer.topics.failure} again={offer.topics.again} />}
        {offer.names.length > 0 && (
          <TopicChoice names={offer.names} chosen={form.topics} onChange={(topics) => change({ topics })} />
        )}
        <SpanFields typed={form} {...{ problems }} onChange={change} />
        {!purpose && <Format {...{ form, change }} isBag={offer.isBag} />}
        {offer.amount && <p class="muted">{offer.amount}</p>}
        {source.damage && <p class="banner">{source.damage}</p>}
        {purpose ? <ViewerWays {...{ source, options }} /> : <ExportWays {...{ source, options }} />}
      </div>
    </Dialog>
  );
}

/** Reads the form; what cannot be read is named, and then there are no options. */
function toOptions(
  { span, isWhole, path }: ExportSource,
  form: Form,
): { options: ExportOptions | undefined; problems: SpanProblems } {
  const { span: chosen, problems } = readSpan(form, { zone: zoneName(zone.value), nowMs: Date.now() });
  if (!chosen || form.topics?.size === 0) return { options: undefined, problems };
  const options: ExportOptions = {
    ...(form.topics ? { topics: [...form.topics] } : {}),
    ...(isWhole && chosen.startNs === span.startNs ? {} : { start: chosen.startNs }),
    ...(isWhole && chosen.endNs === span.endNs ? {} : { end: chosen.endNs }),
    outputFormat: form.format,
    compressionFormat: form.compression,
    // Attachments come with a single recording alone.
    ...(path !== undefined && form.format === "mcap" ? { includeAttachments: true } : {}),
  };
  return { options, problems };
}

interface FormProps {
  readonly form: Form;
  readonly change: (changed: Partial<Form>) => void;
}

const formatLabels: Readonly<Record<ExportFormat, string>> = { mcap: "MCAP", bag1: "ROS 1 bag" };

const COMPRESSIONS = [
  ["lz4", "lz4"],
  ["zstd", "zstd"],
  ["", "none"],
] as const;

function Format({ form: { format, compression }, isBag, change }: FormProps & { isBag: boolean }) {
  const offered = exportFormats.filter((each) => each !== "bag1" || isBag);
  const choose = (chosen: ExportFormat) =>
    change({ format: chosen, compression: chosen === "bag1" && compression === "zstd" ? "lz4" : compression });
  return (
    <div class="row">
      <SelectField
        label="Format"
        value={format}
        choices={offered.map((each) => [each, formatLabels[each]])}
        onChange={choose}
      />
      <SelectField
        label="Compression"
        value={compression}
        choices={COMPRESSIONS.filter(([value]) => format !== "bag1" || value !== "zstd")}
        onChange={(chosen) => change({ compression: chosen })}
      />
    </div>
  );
}
