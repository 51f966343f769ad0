import { may, useMe } from "../api/me.ts";
import { Button } from "../parts/button.tsx";
import { askedFiles } from "./asked-files.ts";

/** Opens the dialog of a page that has an `UploadPlace`. Nothing is shown to users who may not upload. */
export function UploadButton() {
  const { data: me } = useMe();
  if (!may(me, "data.upload")) return null;
  const open = () => {
    askedFiles.value = [];
  };
  return <Button text="Upload files" onClick={open} />;
}
