import { Dialog } from "../parts/dialog.tsx";
import { SignInForm } from "./sign-in-form.tsx";

/** Asks to sign in where the session ended while a page was open: the page stays below, with all that was typed. */
export function SignInDialog() {
  return (
    <Dialog title="Sign in">
      <SignInForm />
    </Dialog>
  );
}
