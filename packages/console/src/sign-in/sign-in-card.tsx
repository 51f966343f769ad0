import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import "./sign-in.css";

/** What stands around each step of a sign-in: nobody is signed in yet, so that there is no frame. */
export function SignInCard({ title, children }: { title: string; children: ComponentChildren }) {
  useEffect(() => {
    document.title = `${title} · Downlink`;
  }, [title]);
  return (
    <main class="sign-in card">
      <img src="/icon.svg" alt="" width="40" height="40" />
      <h1>{title}</h1>
      {children}
    </main>
  );
}
