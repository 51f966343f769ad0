import { useState } from "preact/hooks";
import { Field } from "../parts/field.tsx";
import { TextField } from "../parts/text-field.tsx";

const LEAST_CHARACTERS = 12;

/** Takes a new password, typed twice. The form is not sent before both are the same. */
export function NewPasswordFields({ email }: { email: string }) {
  const [first, setFirst] = useState("");
  const [second, setSecond] = useState("");
  const problem = second !== "" && first !== second ? "The two passwords differ." : undefined;
  return (
    <>
      <input type="hidden" autoComplete="username" value={email} />
      <TextField
        label="New password"
        hint={`At least ${LEAST_CHARACTERS} characters. Several words in a row are good.`}
        name="password"
        type="password"
        autoComplete="new-password"
        minLength={LEAST_CHARACTERS}
        required
        value={first}
        onChange={setFirst}
      />
      <Field label="Repeat the password" problem={problem}>
        {(attributes) => (
          <input
            {...attributes}
            ref={(input) => input?.setCustomValidity(first === second ? "" : "Type the same password twice.")}
            type="password"
            autoComplete="new-password"
            required
            value={second}
            onInput={({ currentTarget }) => setSecond(currentTarget.value)}
          />
        )}
      </Field>
    </>
  );
}

/** Takes the password of an account that exists. */
export function OwnPasswordField() {
  return (
    <TextField
      label="Your password"
      hint="You have an account here already. An invitation does not change it."
      name="password"
      type="password"
      autoComplete="current-password"
      required
    />
  );
}
