import { useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { formatCount } from "./bytes.ts";
import { type ChosenTopics, filterTopics, switchTopics } from "./choose-topics.ts";
import { ForeignText } from "./foreign-text.tsx";
import "./topic-choice.css";

interface TopicsProps {
  readonly names: readonly string[];
  readonly chosen: ChosenTopics;
  readonly onChange: (chosen: ChosenTopics) => void;
}

/** Fewer topics are seen at one glance. */
const MANY = 8;

/** Chooses some of the topics. With a filter, All and None are about the topics that it shows. */
export function TopicChoice({ names, chosen, onChange }: TopicsProps) {
  const [text, setText] = useState("");
  const shown = filterTopics(names, text);
  const turn = (switched: readonly string[], isOn: boolean) =>
    onChange(switchTopics(chosen, { names, switched, isOn }));
  return (
    <fieldset class="topic-choice">
      <legend>Topics</legend>
      <div class="row">
        {names.length > MANY && (
          <input
            type="search"
            aria-label="Filter the topics"
            placeholder="Filter"
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        )}
        <Button text="All" class="small" onClick={() => turn(shown, true)} />
        <Button text="None" class="small" onClick={() => turn(shown, false)} />
        <span class="muted">{chosen?.size === 0 ? "Choose a topic." : describeChoice(names, chosen)}</span>
      </div>
      <div class="topic-list">
        {shown.map((name) => {
          const isOn = chosen?.has(name) ?? true;
          return (
            <label key={name} class="row">
              <input type="checkbox" checked={isOn} onChange={() => turn([name], !isOn)} />
              <span class="mono">
                <ForeignText text={name} />
              </span>
            </label>
          );
        })}
        {shown.length === 0 && <p class="muted">No topic has this in its name.</p>}
      </div>
    </fieldset>
  );
}

function describeChoice(names: readonly string[], chosen: ChosenTopics): string {
  return chosen ? `${formatCount(chosen.size)} of ${formatCount(names.length)}` : "";
}
