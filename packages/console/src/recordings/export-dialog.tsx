import {
  type ExportFormat,
  exportExtensions,
  exportFormats,
  exportLinks,
  type Recording,
  recordings,
} from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useChange } from "../api/use-change.ts";
import { useQuery } from "../api/use-query.ts";
import { Button } from "../parts/button.tsx";
import { CommandText } from "../parts/command-text.tsx";
import { Copy } from "../parts/copy.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Failed } from "../parts/failed.tsx";
import { SelectField } from "../parts/select.tsx";
import { TextField } from "../parts/text-field.tsx";
import { formatExact } from "../time/format-time.ts";
import { parseTime } from "../time/parse-time.ts";
import { curlText, dlText, type ExportChoice, pythonText } from "./export-text.ts";
import { describeDamage } from "./recording-state.ts";

interface ExportProps {
  readonly recording: Recording;
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

/** Shows a recording, or an exact part of it, as a file, a link, or the command that fetches it. */
export function ExportDialog({ recording, onClose }: ExportProps) {
  const { id, start, end } = recording;
  const [form, setForm] = useState<Form>({
    topics: undefined,
    from: formatExact(start),
    to: formatExact(end),
    format: "mcap",
    compression: "lz4",
  });
  const topics = useQuery(recordings.topics, { keyOrId: id, limit: 2000 });
  const names = [...new Set(topics.data?.map(({ topic }) => topic))];
  // An MCAP file may hold messages of ROS 1, too, and is no bag.
  const isBag = !/\.mcap$/i.test(recording.path) && (topics.data?.some(({ encoding }) => encoding === "ros1") ?? false);
  const { choice, problems } = toChoice(recording, form);
  const change = (changed: Partial<Form>) => setForm({ ...form, ...changed });
  return (
    <Dialog title="Export" onClose={onClose} isWide>
      <div class="stack">
        {topics.failure && <Failed failure={topics.failure} again={topics.again} />}
        <TopicChoice {...{ names, chosen: form.topics, onChange: (chosen) => change({ topics: chosen }) }} />
        <Times {...{ form, problems, change }} />
        <Format {...{ form, isBag, change }} />
        {choice && <Ways {...{ choice, recording }} />}
      </div>
    </Dialog>
  );
}

interface Problems {
  readonly from?: string;
  readonly to?: string;
}

function toChoice({ id, start, end }: Recording, form: Form): { choice?: ExportChoice; problems: Problems } {
  const [from, to] = [form.from, form.to].map((text) => parseTime(text, { zone: "UTC", nowMs: Date.now() }));
  const problems = {
    ...("problem" in from! ? { from: from.problem } : {}),
    ...("problem" in to! ? { to: to.problem } : {}),
  };
  if ("problem" in from! || "problem" in to!) return { problems };
  if (from!.timeNs > to!.timeNs) return { problems: { to: "The end lies before the start." } };
  const choice: ExportChoice = {
    recordingId: id,
    ...(form.topics ? { topics: [...form.topics] } : {}),
    ...(from!.timeNs === start ? {} : { start: from!.timeNs }),
    ...(to!.timeNs === end ? {} : { end: to!.timeNs }),
    outputFormat: form.format,
    compressionFormat: form.compression,
    ...(form.format === "mcap" ? { includeAttachments: true } : {}),
  };
  return { choice: form.topics?.size === 0 ? undefined : choice, problems };
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
            <span class="mono">{name}</span>
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

function Times({ form, problems, change }: FormProps & { problems: Problems }) {
  return (
    <div class="row export-times">
      <TextField label="From (UTC)" problem={problems.from} value={form.from} onChange={(from) => change({ from })} />
      <TextField label="To (UTC)" problem={problems.to} value={form.to} onChange={(to) => change({ to })} />
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

/** The link is asked for when it is needed, because it ends after seconds. */
function Ways({ choice, recording }: { choice: ExportChoice; recording: Recording }) {
  const ask = useChange(exportLinks.create);
  const [facts, setFacts] = useState<{ link: string; fileName: string; unknownTopics?: string[] } | undefined>();
  const run = async () => {
    const answer = await ask.run({ ...choice, topics: choice.topics && [...choice.topics] });
    if (answer) setFacts(answer);
    return answer;
  };
  const download = async () => {
    const answer = await run();
    if (answer) location.assign(answer.link);
  };
  const fileName = facts?.fileName ?? `export${exportExtensions[choice.outputFormat]}`;
  const where = { url: location.origin, fileName };
  return (
    <div class="stack">
      {recording.damage && <p class="banner">{describeDamage(recording.damage)}</p>}
      {facts?.unknownTopics && <p class="banner">No message has the topics {facts.unknownTopics.join(", ")}.</p>}
      {ask.failure && <Failed failure={ask.failure} />}
      <div class="row">
        <Button text="Download" class="primary" disabled={ask.isRunning} onClick={() => void download()} />
        <Button text="Make a link" disabled={ask.isRunning} onClick={() => void run()} />
        {facts && <Copy text={facts.link} label="Copy the link, which opens within 15 s" />}
      </div>
      <Command name="curl" text={curlText(choice, where)} />
      <Command name="dl" text={dlText(choice, where)} />
      <Command name="Python" text={pythonText(choice, where)} />
    </div>
  );
}

function Command({ name, text }: { name: string; text: string }) {
  return (
    <details class="export-command">
      <summary>{name}</summary>
      <CommandText text={text} />
      <Copy text={text} label={`Copy for ${name}`} />
    </details>
  );
}
