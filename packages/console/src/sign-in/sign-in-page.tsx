import type { VNode } from "preact";
import { useLocation, useRoute } from "preact-iso";
import { SignInForm } from "../frame/sign-in-form.tsx";
import { DeviceStep } from "./device-step.tsx";
import { InvitationStep } from "./invitation-step.tsx";
import { ResetStep } from "./reset-step.tsx";
import { safeNext } from "./safe-next.ts";
import { SignInCard } from "./sign-in-card.tsx";

const STEPS: Readonly<Record<string, () => VNode>> = {
  device: DeviceStep,
  invitation: InvitationStep,
  reset: ResetStep,
};

/** Signs users in. Links for people without a session lead here. */
export function SignInPage() {
  const { step } = useRoute().params;
  const Step = step !== undefined && Object.hasOwn(STEPS, step) ? STEPS[step]! : SignInStep;
  return <Step />;
}

function SignInStep() {
  const { query, route } = useLocation();
  const next = safeNext(query.next, location.origin);
  return (
    <SignInCard title="Sign in to Downlink">
      <SignInForm next={next} onDone={() => route(next, true)} />
    </SignInCard>
  );
}
