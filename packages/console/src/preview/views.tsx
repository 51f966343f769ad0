import { useState } from "preact/hooks";
import { useShortcuts } from "../parts/keys.ts";
import { Select } from "../parts/select.tsx";
import { type KnownTopic, MOST_VIEWS } from "./choose-views.ts";
import { formatLine, parseLine } from "./lines.ts";
import type { LookProps } from "./look-props.ts";
import type { PreviewChoice } from "./preview-window.ts";
import { View, type ViewProps } from "./view.tsx";

interface ViewsProps {
  readonly choice: PreviewChoice;
  /** All topics of the recording that have messages. */
  readonly known: readonly KnownTopic[];
  /** Returns how a topic is looked at, or why it cannot be; neither while it is read. */
  readonly lookOf: (topic: string) => { readonly look?: LookProps; readonly note?: string };
  readonly onChoose: (changed: Partial<PreviewChoice>) => void;
}

/** Up to four topics at one moment. */
export function Views({ choice, known, lookOf, onChoose }: ViewsProps) {
  const { topics, lines } = choice;
  const [large, setLarge] = useEnlarged(topics);
  const others = known.filter(({ topic }) => !topics.includes(topic));
  const propsOf = (name: string): ViewProps => {
    const topic = known.find((one) => one.topic === name) ?? { topic: name, schemaName: "", messageCount: 0 };
    return {
      topic,
      choices: [topic, ...others],
      look: undefined,
      note: undefined,
      ...lookOf(name),
      fields: fieldsOf(lines, name),
      onFields: (fields) => onChoose({ lines: withFields(lines, name, fields) }),
      onTopic: (chosen) => onChoose({ topics: topics.map((one) => (one === name ? chosen : one)) }),
      isLarge: large === name,
      onLarge: () => setLarge(large === name ? undefined : name),
      onClose: topics.length > 1 ? () => onChoose({ topics: topics.filter((one) => one !== name) }) : undefined,
    };
  };
  const hasPlace = large === undefined && topics.length < MOST_VIEWS && others.length > 0;
  const place = hasPlace && <AddView others={others} onAdd={(topic) => onChoose({ topics: [...topics, topic] })} />;
  return (
    <>
      <div class="views">
        {topics.map((name, at) => (large === undefined || large === name) && <View key={at} {...propsOf(name)} />)}
        {topics.length === MOST_VIEWS - 1 && place}
      </div>
      {topics.length < MOST_VIEWS - 1 && place}
    </>
  );
}

/** Enlarges a view by `f`, and shows all again by Escape. */
function useEnlarged(topics: readonly string[]): [string | undefined, (topic: string | undefined) => void] {
  const [chosen, setLarge] = useState<string | undefined>();
  const large = topics.find((topic) => topic === chosen);
  const enlarge = () => setLarge(large === undefined ? (focusedTopic() ?? topics[0]) : undefined);
  useShortcuts([
    { keys: "f", does: "Enlarge the view that has the focus, or show all again", run: enlarge },
    ...(large === undefined ? [] : [{ keys: "Escape", does: "Back to all views", run: () => setLarge(undefined) }]),
  ]);
  return [large, setLarge];
}

function focusedTopic(): string | undefined {
  return document.activeElement?.closest<HTMLElement>("[data-topic]")?.dataset.topic;
}

function AddView({ others, onAdd }: { others: readonly KnownTopic[]; onAdd: (topic: string) => void }) {
  const choices = [["", "Add a view…"] as const, ...others.map(({ topic }) => [topic, topic] as const)];
  return (
    <div class="view-place">
      <Select aria-label="Add a view" value="" choices={choices} onChange={(topic) => topic !== "" && onAdd(topic)} />
    </div>
  );
}

function fieldsOf(lines: readonly string[], topic: string): string[] {
  return lines.flatMap((text) => {
    const line = parseLine(text);
    return line?.topic === topic ? [line.field] : [];
  });
}

function withFields(lines: readonly string[], topic: string, fields: readonly string[]): string[] {
  const others = lines.filter((line) => parseLine(line)?.topic !== topic);
  return [...others, ...fields.map((field) => formatLine({ topic, field }))];
}
