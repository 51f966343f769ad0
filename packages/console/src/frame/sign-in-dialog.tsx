import { Dialog } from "../parts/dialog.tsx";
import { SignInForm } from "./sign-in-form.tsx";

/** The session ended while a page was open: it stays below, with all that was typed. */
export function SignInDialog() {
  return (
    <Dialog title="Sign in">
      <SignInForm />
    </Dialog>
  );
}
