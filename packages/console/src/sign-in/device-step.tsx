import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { Failure } from "../api/failure.ts";
import { type Send, useSend } from "../api/use-change.ts";
import { SignInForm } from "../frame/sign-in-form.tsx";
import { Button } from "../parts/button.tsx";
import { Facts } from "../parts/facts.tsx";
import { Failed } from "../parts/failed.tsx";
import { SubmitButton } from "../parts/submit-button.tsx";
import { TextField } from "../parts/text-field.tsx";
import { SignInCard } from "./sign-in-card.tsx";

interface Waiting {
  readonly clientId: string;
  readonly address: string;
  readonly userCode: string;
}

/** Lets a member approve a program without a browser. Opening the program's link approves nothing. */
export function DeviceStep() {
  const { query, route } = useLocation();
  const { code } = query;
  const look = useSend();
  const [waiting, setWaiting] = useState<Waiting | undefined>();
  const [decision, setDecision] = useState<boolean | undefined>();
  const ask = async () => {
    if (!code) return;
    const found = await look.send("GET", `/v1/session/device?userCode=${encodeURIComponent(code)}`);
    setWaiting(found as Waiting | undefined);
  };
  useEffect(() => void ask(), [code]);
  if (decision !== undefined) return <Decided isApproved={decision} />;
  if (waiting) return <Decide {...{ waiting, onDecided: setDecision }} />;
  if (look.failure?.kind === "refused")
    return (
      <SignInCard title="Sign in to let a program in">
        <SignInForm onDone={() => void ask()} />
      </SignInCard>
    );
  const toCode = (typed: string) =>
    typed === code ? void ask() : route(`/sign-in/device?code=${encodeURIComponent(typed)}`, true);
  return <TypeCode {...{ code, look, onTyped: toCode }} />;
}

interface TypeProps {
  readonly code: string | undefined;
  readonly look: Send;
  readonly onTyped: (code: string) => void;
}

function TypeCode({ code = "", look: { failure, isRunning }, onTyped }: TypeProps) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    onTyped(String(new FormData(event.currentTarget as HTMLFormElement).get("code")).trim());
  };
  return (
    <SignInCard title="Let a program in">
      <form class="stack" onSubmit={submit}>
        <TextField
          label="The code that the program shows"
          hint="Such as BCDF-GHJK. Upper or lower case does not matter."
          class="user-code"
          name="code"
          defaultValue={code}
          autoComplete="off"
          required
        />
        {failure && <LookFailed failure={failure} />}
        <div class="row">
          <SubmitButton {...{ isRunning, failure }} text="Go on" />
        </div>
      </form>
    </SignInCard>
  );
}

function LookFailed({ failure }: { failure: Failure }) {
  if (failure.code !== "WrongCredentialKind") return <Failed failure={failure} />;
  return (
    <div class="failure" role="alert">
      <p>
        You are signed in with an API key. Only a member can let a program in:{" "}
        <a href={`/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`}>sign in as a member</a>.
      </p>
    </div>
  );
}

function Decide({ waiting, onDecided }: { waiting: Waiting; onDecided: (isApproved: boolean) => void }) {
  const { send, isRunning, failure } = useSend();
  const { clientId, address, userCode } = waiting;
  const decide = async (approve: boolean) => {
    if (await send("POST", "/v1/session/device", { userCode, approve })) onDecided(approve);
  };
  return (
    <SignInCard title="Let this program in?">
      <Facts
        facts={[
          ["Program", clientId],
          ["Asks from", address],
          ["Code", <strong class="user-code">{grouped(userCode)}</strong>],
        ]}
      />
      <p>
        It will be able to do all that you may do, for 90 days.{" "}
        <strong>Approve only if you started this just now, on your own machine,</strong> and the program shows the same
        code.
      </p>
      {failure && <Failed failure={failure} />}
      <div class="row">
        <Button text="Approve" class="primary" disabled={isRunning} onClick={() => void decide(true)} />
        <Button text="Deny" class="danger" disabled={isRunning} onClick={() => void decide(false)} />
      </div>
    </SignInCard>
  );
}

/** Formats a code as the program shows it: the service answers it without the dash. */
function grouped(userCode: string): string {
  return userCode.replaceAll("-", "").replaceAll(/(.{4})(?=.)/g, "$1-");
}

function Decided({ isApproved }: { isApproved: boolean }) {
  return (
    <SignInCard title={isApproved ? "The program is let in" : "The program was turned away"}>
      <p role="status">
        {isApproved
          ? "It continues by itself. You can close this page. Settings › Account lists its session, and ends it."
          : "Its sign-in has ended. If you did not start it, somebody else tried to get in with your help."}
      </p>
    </SignInCard>
  );
}
