import { exportExtensions, exportLinks } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useChange } from "../api/use-change.ts";
import { Button } from "../parts/button.tsx";
import { CommandText } from "../parts/command-text.tsx";
import { Copy } from "../parts/copy.tsx";
import { Failed } from "../parts/failed.tsx";
import type { ExportFile, ExportSource } from "./export-source.ts";
import { curlText, dlText, type ExportChoice, type ExportOptions, pythonText } from "./export-text.ts";
import { FileList } from "./file-list.tsx";

interface WaysProps {
  readonly source: ExportSource;
  /** Undefined while the form cannot be read. */
  readonly options: ExportOptions | undefined;
}

/** Offers each file for itself, and commands for all of them. */
export function ExportWays({ source: { files }, options }: WaysProps) {
  return (
    <div class="stack">
      <FileList files={files}>{(file) => <FileWays file={file} options={options} />}</FileList>
      {options && <Commands {...{ files, options }} />}
    </div>
  );
}

interface Facts {
  readonly link: string;
  readonly fileName: string;
  readonly unknownTopics?: readonly string[] | undefined;
}

/** The link is asked for when it is needed, because it ends after seconds. */
function FileWays({ file, options }: { file: ExportFile; options: ExportOptions | undefined }) {
  const ask = useChange(exportLinks.create);
  const [facts, setFacts] = useState<Facts | undefined>();
  const isOff = options === undefined || ask.isRunning;
  const run = async () => {
    if (!options) return undefined;
    const answer = await ask.run({ ...file.by, ...options, topics: options.topics && [...options.topics] });
    if (answer) setFacts(answer);
    return answer;
  };
  const download = async () => {
    const answer = await run();
    if (answer) location.assign(answer.link);
  };
  return (
    <>
      <Button text="Download" class="primary" disabled={isOff} onClick={() => void download()} />
      <Button text="Make a link" disabled={isOff} onClick={() => void run()} />
      {facts && <Copy text={facts.link} label="Copy the link, which opens within 15 s" />}
      {facts?.unknownTopics && <p class="banner">No message has the topics {facts.unknownTopics.join(", ")}.</p>}
      {ask.failure && <Failed failure={ask.failure} />}
    </>
  );
}

function Commands({ files, options }: { files: readonly ExportFile[]; options: ExportOptions }) {
  const each = (text: (choice: ExportChoice, where: { url: string; fileName: string }) => string) =>
    files
      .map(({ name, by }) => {
        const base = files.length > 1 ? name.replaceAll(/[^\w.-]/g, "_") : "export";
        return text(
          { ...by, ...options },
          { url: location.origin, fileName: base + exportExtensions[options.outputFormat] },
        );
      })
      .join("\n\n");
  const isRecording = files.every(({ by }) => "recordingId" in by);
  return (
    <div class="stack">
      <Command name="curl" text={each(curlText)} />
      {isRecording && <Command name="dl" text={each(dlText)} />}
      <Command name="Python" text={each(pythonText)} />
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
