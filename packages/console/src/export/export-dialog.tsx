import { type ExportFormat, exportFormats } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Failed } from "../parts/failed.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { SelectField } from "../parts/select.tsx";
import { TextField } from "../parts/text-field.tsx";
import { formatExact, zoneName } from "../time/format-time.ts";
import { parseTime } from "../time/parse-time.ts";
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
  /** Undefined for all. */
  readonly topics: ReadonlySet<string> | undefined;
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
        <Times {...{ form, problems, change }} />
        {!purpose && <Format {...{ form, change }} isBag={offer.isBag} />}
        {offer.amount && <p class="muted">{offer.amount}</p>}
        {source.damage && <p class="banner">{source.damage}</p>}
        {purpose ? <ViewerWays {...{ source, options }} /> : <ExportWays {...{ source, options }} />}
      </div>
    </Dialog>
  );
}

interface Problems {
  readonly from?: string;
  readonly to?: string;
}

/** Reads the form; what cannot be read is named, and then there are no options. */
function toOptions(
  { span, isWhole, path }: ExportSource,
  form: Form,
): { options: ExportOptions | undefined; problems: Problems } {
  const at = { zone: zoneName(zone.value), nowMs: Date.now() };
  const [from, to] = [parseTime(form.from, at), parseTime(form.to, at)];
  const problems = {
    ...("problem" in from ? { from: from.problem } : {}),
    ...("problem" in to ? { to: to.problem } : {}),
  };
  if ("problem" in from || "problem" in to) return { options: undefined, problems };
  if (from.timeNs > to.timeNs) return { options: undefined, problems: { to: "The end lies before the start." } };
  if (form.topics?.size === 0) return { options: undefined, problems };
  const options: ExportOptions = {
    ...(form.topics ? { topics: [...form.topics] } : {}),
    ...(isWhole && from.timeNs === span.startNs ? {} : { start: from.timeNs }),
    ...(isWhole && to.timeNs === span.endNs ? {} : { end: to.timeNs }),
    outputFormat: form.format,
    compressionFormat: form.compression,
    // Attachments come with a single recording alone.
    ...(path !== undefined && form.format === "mcap" ? { includeAttachments: true } : {}),
  };
  return { options, problems };
}

interface TopicsProps {
  readonly names: readonly string[];
  readonly chosen: ReadonlySet<string> | undefined;
  readonly onChange: (chosen: ReadonlySet<string> | undefined) => void;
}

function TopicChoice({ names, chosen, onChange }: TopicsProps) {
  const toggle = (name: string) => {
    const all = new Set(chosen ?? names);
    if (!all.delete(name)) all.add(name);
    onChange(all.size === names.length ? undefined : all);
  };
  return (
    <fieldset class="export-topics">
      <legend>Topics</legend>
      <div class="row">
        <Button text="All" class="small" onClick={() => onChange(undefined)} />
        <Button text="None" class="small" onClick={() => onChange(new Set())} />
        {chosen?.size === 0 && <span class="muted">Choose a topic.</span>}
      </div>
      <div class="export-topic-list">
        {names.map((name) => (
          <label key={name} class="row">
            <input type="checkbox" checked={chosen?.has(name) ?? true} onChange={() => toggle(name)} />
            <span class="mono">
              <ForeignText text={name} />
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

interface FormProps {
  readonly form: Form;
  readonly change: (changed: Partial<Form>) => void;
}

/** A time without a zone is one of the zone that the pages show. */
function Times({ form, problems, change }: FormProps & { problems: Problems }) {
  const name = zoneName(zone.value);
  return (
    <div class="row export-times">
      <TextField
        label={`From (${name})`}
        problem={problems.from}
        value={form.from}
        onChange={(from) => change({ from })}
      />
      <TextField label={`To (${name})`} problem={problems.to} value={form.to} onChange={(to) => change({ to })} />
    </div>
  );
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
