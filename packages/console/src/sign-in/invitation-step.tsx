import type { SeenInvitation } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { z } from "zod";
import { forgetEverything } from "../api/queries.ts";
import { useSend } from "../api/use-change.ts";
import { providerHref } from "../frame/sign-in-form.tsx";
import { Button } from "../parts/button.tsx";
import { SubmitRow } from "../parts/submit-button.tsx";
import { TextField } from "../parts/text-field.tsx";
import { LinkTrouble } from "./link-trouble.tsx";
import { NewPasswordFields, OwnPasswordField } from "./password-fields.tsx";
import { SignInCard } from "./sign-in-card.tsx";
import { useLink } from "./use-link.ts";

type Seen = Pick<z.output<typeof SeenInvitation>, "email" | "organization" | "role" | "proof">;

/** Accepts an invitation, for the person who was given its link. */
export function InvitationStep() {
  const { secret, seen, failure, again } = useLink<Seen>("/v1/session/invitation/look");
  if (!seen || secret === undefined)
    return (
      <SignInCard title="Invitation">
        <LinkTrouble {...{ secret, failure, again }} remedy="Ask an admin of the organization for a new one." />
      </SignInCard>
    );
  const { organization, email, role, proof } = seen;
  return (
    <SignInCard title={`Join ${organization.name}`}>
      <p>
        <strong>{email}</strong> is invited{role === "admin" ? ", as an admin" : ""}.
      </p>
      {proof === "provider" ? (
        <a class="button primary" href={providerHref("/", organization.id)}>
          Sign in with your organization's account
        </a>
      ) : (
        <AcceptForm {...{ secret, seen }} />
      )}
    </SignInCard>
  );
}

function AcceptForm({ secret, seen: { proof, email } }: { secret: string; seen: Seen }) {
  const { route } = useLocation();
  const { send, isRunning, failure } = useSend();
  const [isSeparate, setSeparate] = useState(false);
  const isNew = proof === "newPassword" || isSeparate;
  const accept = async (event: SubmitEvent) => {
    event.preventDefault();
    const { name, password } = Object.fromEntries(new FormData(event.currentTarget as HTMLFormElement));
    const given = { token: secret, password, separate: isSeparate, ...(name ? { name } : {}) };
    if (!(await send("POST", "/v1/session/invitation", given))) return;
    forgetEverything();
    route("/", true);
  };
  return (
    <form class="stack" onSubmit={(event) => void accept(event)}>
      {isNew && (
        <TextField
          label="Your name"
          hint="As others see it. It may stay empty."
          name="name"
          autoComplete="name"
          maxLength={200}
        />
      )}
      {isNew ? <NewPasswordFields email={email} /> : <OwnPasswordField />}
      <SubmitRow {...{ isRunning, failure }} text="Join">
        {!isNew && <Button text="That account is not mine: make another" onClick={() => setSeparate(true)} />}
      </SubmitRow>
    </form>
  );
}
