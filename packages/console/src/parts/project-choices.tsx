interface ChoicesProps {
  readonly legend: string;
  /** Says what an empty choice means. */
  readonly ofNone: string;
  readonly projects: readonly { readonly id: string; readonly name?: string | undefined }[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

/** Chooses some of the projects; an empty choice may stand for all. */
export function ProjectChoices({ legend, ofNone, projects, chosen, onChange }: ChoicesProps) {
  const toggle = (id: string) => onChange(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id]);
  return (
    <fieldset>
      <legend>{legend}</legend>
      <div class="choices">
        {projects.map(({ id, name }) => (
          <label key={id} class="choice">
            <input type="checkbox" checked={chosen.includes(id)} onChange={() => toggle(id)} />
            {name ?? id}
          </label>
        ))}
      </div>
      <p class="muted">{chosen.length === 0 ? ofNone : `${chosen.length} of ${projects.length} projects.`}</p>
    </fieldset>
  );
}
