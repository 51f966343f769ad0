import { me } from "@downlink/protocol";
import { useRef } from "preact/hooks";
import { useChange } from "../../api/use-change.ts";
import { SubmitRow } from "../../parts/submit-button.tsx";
import { TextField } from "../../parts/text-field.tsx";
import { toast } from "../../parts/toast.tsx";

const LEAST_CHARACTERS = 12;

/** Changes the password. Only the inputs keep the typed passwords, until they are accepted. */
export function ChangePassword() {
  const { run, isRunning, failure } = useChange(me.changePassword, me.listSessions);
  const form = useRef<HTMLFormElement>(null);
  const change = async (event: SubmitEvent) => {
    event.preventDefault();
    const { password, newPassword } = Object.fromEntries(new FormData(form.current!)) as Record<string, string>;
    const answer = await run({ password: password!, newPassword: newPassword! });
    if (!answer) return;
    form.current?.reset();
    toast(`The password is changed. Other sessions that ended: ${answer.ended}.`);
  };
  return (
    <section class="section password" aria-label="Password">
      <h2>Password</h2>
      <form class="stack" ref={form} onSubmit={(event) => void change(event)}>
        <TextField label="Current password" name="password" type="password" autoComplete="current-password" required />
        <TextField
          label="New password"
          hint={`At least ${LEAST_CHARACTERS} characters. All your other sessions end.`}
          name="newPassword"
          type="password"
          autoComplete="new-password"
          minLength={LEAST_CHARACTERS}
          required
        />
        <SubmitRow {...{ isRunning, failure }} text="Change the password" />
      </form>
    </section>
  );
}
