import type { ErrorBody } from "@downlink/protocol";
import { useEffect, useState } from "preact/hooks";
import { NO_FACTS } from "../api/failure.ts";
import { type Organization, plainCall } from "../api/plain-call.ts";
import { forgetEverything } from "../api/queries.ts";
import { useSend } from "../api/use-change.ts";
import { Button } from "../parts/button.tsx";
import { Failed } from "../parts/failed.tsx";
import { SubmitRow } from "../parts/submit-button.tsx";
import { TextField } from "../parts/text-field.tsx";

/** Which ways of signing in this service has. */
interface Ways {
  readonly passwords: boolean;
  readonly oidc: boolean;
  /** Any person has an account; otherwise only an API key signs in. */
  readonly accounts: boolean;
  readonly failure?: ErrorBody;
}

interface FormProps {
  /** Is called once the user is signed in. */
  readonly onDone?: () => void;
  /** Where a provider of OpenID Connect leads back to. */
  readonly next?: string;
}

/** Signs in by e-mail and password, at a provider, or with an API key, as the service allows. */
export function SignInForm({ onDone = () => undefined, next = location.pathname + location.search }: FormProps) {
  const ways = useWays();
  const [chosen, setChosen] = useState<"key" | "password" | undefined>();
  const { send, isRunning, failure } = useSend();
  const usesKey = ways?.passwords === false || (chosen ?? (ways?.accounts === false ? "key" : "password")) === "key";
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    if (!(await send("POST", "/v1/session", Object.fromEntries(new FormData(form, event.submitter))))) return;
    forgetEverything();
    onDone();
  };
  return (
    <form class="stack" onSubmit={(event) => void submit(event)}>
      {ways?.failure && <ProviderFailed {...{ failed: ways.failure, next }} />}
      {ways?.oidc && !ways.failure?.organizations && (
        <a class="button primary" href={providerHref(next)}>
          Sign in with your organization's account
        </a>
      )}
      {usesKey ? <KeyField /> : <PasswordFields />}
      {failure?.organizations ? (
        <OrganizationButtons {...{ organizations: failure.organizations, isRunning }} />
      ) : (
        <SubmitRow {...{ failure, isRunning }} text={isRunning ? "Signing in…" : "Sign in"}>
          {ways?.passwords !== false && (
            <Button
              text={usesKey ? "With e-mail and password" : "With an API key"}
              class="plain"
              onClick={() => setChosen(usesKey ? "password" : "key")}
            />
          )}
        </SubmitRow>
      )}
    </form>
  );
}

/** Typed values stay in the form, and are sent again with the organization. */
function OrganizationButtons({
  organizations,
  isRunning,
}: {
  organizations: readonly Organization[];
  isRunning: boolean;
}) {
  return (
    <fieldset class="stack plain-set">
      <legend>You are a member of several organizations. Which one?</legend>
      {organizations.map(({ id, name }) => (
        <button key={id} type="submit" name="organization" value={id} disabled={isRunning}>
          {name}
        </button>
      ))}
    </fieldset>
  );
}

/** The browser was at the provider and came back without a session: the service kept why. */
function ProviderFailed({ failed, next }: { failed: NonNullable<Ways["failure"]>; next: string }) {
  const { error, code, organizations } = failed;
  if (organizations)
    return (
      <div class="stack">
        <p>You are a member of several organizations. Which one?</p>
        {organizations.map(({ id, name }) => (
          <a key={id} class="button" href={providerHref(next, id)}>
            {name}
          </a>
        ))}
      </div>
    );
  const text = `The sign-in at your organization's provider failed: ${error}.`;
  return <Failed failure={{ ...NO_FACTS, kind: "forbidden", text, code }} />;
}

export function providerHref(next: string, organization?: string): string {
  const query = new URLSearchParams({ next, ...(organization && { organization }) });
  return `/v1/session/oidc?${query}`;
}

function KeyField() {
  return (
    <TextField
      label="API key"
      hint="It is exchanged for a session at once, and not stored anywhere else."
      name="apiKey"
      type="password"
      autoComplete="off"
      required
    />
  );
}

function PasswordFields() {
  return (
    <>
      <TextField label="E-mail" name="email" type="email" autoComplete="username" required />
      <TextField label="Password" name="password" type="password" autoComplete="current-password" required />
    </>
  );
}

function useWays(): Ways | undefined {
  const [ways, setWays] = useState<Ways | undefined>();
  useEffect(() => {
    plainCall("GET", "/v1/session").then(
      (answer) => setWays(answer as Ways),
      () => setWays({ passwords: true, oidc: false, accounts: true }), // the form says what is wrong once it is used
    );
  }, []);
  return ways;
}
