import { useState } from "preact/hooks";
import { useSend } from "../api/use-change.ts";
import { SubmitRow } from "../parts/submit-button.tsx";
import { LinkTrouble } from "./link-trouble.tsx";
import { NewPasswordFields } from "./password-fields.tsx";
import { SignInCard } from "./sign-in-card.tsx";
import { useLink } from "./use-link.ts";

/** Sets a new password, for the person who was given a link for it. */
export function ResetStep() {
  const { secret, seen, failure, again } = useLink<{ readonly email: string }>("/v1/session/reset/look");
  const [ended, setEnded] = useState<number | undefined>();
  if (ended !== undefined) return <Done ended={ended} />;
  return (
    <SignInCard title="A new password">
      {seen && secret !== undefined ? (
        <ResetForm {...{ secret, email: seen.email, onDone: setEnded }} />
      ) : (
        <LinkTrouble {...{ secret, failure, again }} remedy="Ask an admin of your organization for a new one." />
      )}
    </SignInCard>
  );
}

interface FormProps {
  readonly secret: string;
  readonly email: string;
  readonly onDone: (ended: number) => void;
}

function ResetForm({ secret, email, onDone }: FormProps) {
  const { send, isRunning, failure } = useSend();
  const reset = async (event: SubmitEvent) => {
    event.preventDefault();
    const { password } = Object.fromEntries(new FormData(event.currentTarget as HTMLFormElement));
    const answer = await send("POST", "/v1/session/reset", { token: secret, password });
    if (answer) onDone(Number(answer.ended));
  };
  return (
    <form class="stack" onSubmit={(event) => void reset(event)}>
      <p>
        For <strong>{email}</strong>. All sessions of the account end.
      </p>
      <NewPasswordFields email={email} />
      <SubmitRow {...{ isRunning, failure }} text="Set the password" />
    </form>
  );
}

function Done({ ended }: { ended: number }) {
  return (
    <SignInCard title="The password is set">
      <p role="status">
        {ended === 1 ? "One session ended." : `${ended} sessions ended.`} Sign in with the new password.
      </p>
      <a class="button primary" href="/sign-in">
        Sign in
      </a>
    </SignInCard>
  );
}
