import { type Site, type SiteType, sites } from "@downlink/protocol";
import { useChange } from "../api/use-change.ts";
import { Confirm } from "../parts/confirm.tsx";
import { toast } from "../parts/toast.tsx";

/** Says what is deleted with a site of each type, and what stays. */
const MEANS: Readonly<Record<SiteType, string>> = {
  "service-hosted": "It is refused while the site holds recordings or imports, and where it is the only one.",
  "self-hosted":
    "Recordings that are stored at it become unavailable: they stay listed, but cannot be viewed or downloaded. What is in its store stays there, and its process is refused.",
  edge: "Its agent is refused and uploads no more. What was imported stays; files that are only there are not listed any more. Nothing is deleted on its disk.",
  byob: "Its bucket is no longer read, and stays as it is. Recordings whose bytes are in the bucket become unavailable.",
};

interface DeleteProps {
  readonly site: Site;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function DeleteSite({ site: { id, name, type }, onClose, onDone }: DeleteProps) {
  const { run, failure } = useChange(sites.delete, sites.list);
  const remove = async () => {
    if (!(await run({ id }))) return;
    toast(`${name} is deleted.`);
    onDone();
  };
  return (
    <Confirm
      {...{ failure, onClose, typedName: name }}
      title={`Delete ${name}?`}
      deed="Delete the site for good"
      onConfirm={() => void remove()}
    >
      <p>{MEANS[type]}</p>
      <p>All its tokens go with it. This cannot be undone.</p>
    </Confirm>
  );
}
