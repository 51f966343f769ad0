import { toggleIn } from "./selection.ts";

interface ChoicesProps<T extends string> {
  readonly legend: string;
  /** The values with their texts. */
  readonly choices: readonly (readonly [value: T, text: string])[];
  readonly chosen: readonly T[];
  readonly onChange: (chosen: readonly T[]) => void;
  readonly note?: string;
}

/** Chooses some of several. */
export function Choices<T extends string>({ legend, choices, chosen, onChange, note }: ChoicesProps<T>) {
  return (
    <fieldset>
      <legend>{legend}</legend>
      <div class="choices">
        {choices.map(([value, text]) => (
          <label key={value} class="choice">
            <input
              type="checkbox"
              checked={chosen.includes(value)}
              onChange={() => onChange(toggleIn(chosen, value))}
            />
            {text}
          </label>
        ))}
      </div>
      {note && <p class="muted">{note}</p>}
    </fieldset>
  );
}

interface ProjectsProps {
  /** Says what an empty choice means. */
  readonly ofNone: string;
  readonly projects: readonly { readonly id: string; readonly name?: string | undefined }[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

/** Chooses some of the projects; an empty choice may stand for all. */
export function ProjectChoices({ ofNone, projects, chosen, onChange }: ProjectsProps) {
  return (
    <Choices
      legend="Projects"
      choices={projects.map(({ id, name }) => [id, name ?? id])}
      note={chosen.length === 0 ? ofNone : `${chosen.length} of ${projects.length} projects.`}
      {...{ chosen, onChange }}
    />
  );
}
