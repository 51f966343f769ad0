import { type Me, type Webhook, type WebhookEventType, webhookEventTypes, webhooks } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useChange } from "../../api/use-change.ts";
import { Choices } from "../../parts/choices.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { namedChoices, SelectField } from "../../parts/select.tsx";
import { TextField } from "../../parts/text-field.tsx";

interface FormProps {
  readonly me: Me;
  /** Absent for a new one. */
  readonly webhook?: Webhook;
  readonly onMade?: (made: { readonly id: string; readonly secret: string }) => void;
  readonly onClose: () => void;
}

/** Makes a webhook, or changes its name, its address and what it receives. */
export function WebhookForm({ me, webhook, onMade, onClose }: FormProps) {
  const [name, setName] = useState(webhook?.name ?? "");
  const [url, setUrl] = useState(webhook?.url ?? "https://");
  const [eventTypes, setEventTypes] = useState((webhook?.eventTypes ?? []) as readonly WebhookEventType[]);
  const [projectId, setProjectId] = useState(me.isLimited ? (me.projects[0]?.id ?? "") : "");
  const create = useChange(webhooks.create, webhooks.list);
  const update = useChange(webhooks.update, webhooks.list, webhooks.get);
  const { isRunning, failure } = webhook ? update : create;
  const save = async () => {
    const given = { name, url, eventTypes: [...eventTypes] };
    if (webhook) return (await update.run({ id: webhook.id, ...given })) && onClose();
    const made = await create.run({ ...given, ...(projectId && { projectId }) });
    if (made) onMade?.(made);
  };
  return (
    <FormDialog
      {...{ isRunning, failure, onClose, onSubmit: save }}
      title={webhook ? `Change ${webhook.name}` : "New webhook"}
      deed={webhook ? "Change the webhook" : "Make the webhook"}
      isDisabled={eventTypes.length === 0}
      isWide
    >
      <TextField label="Name" value={name} onChange={setName} maxLength={100} required />
      <TextField
        label="Address"
        hint="https, and reachable from the service. It gets a POST for each event."
        type="url"
        value={url}
        onChange={setUrl}
        required
      />
      {!webhook && (
        <SelectField
          label="Project"
          value={projectId}
          choices={[...(me.isLimited ? [] : [["", "every project"] as const]), ...namedChoices(me.projects)]}
          onChange={setProjectId}
        />
      )}
      <Choices
        legend="What it receives"
        choices={webhookEventTypes.map((type) => [type, type])}
        chosen={eventTypes}
        onChange={setEventTypes}
        note="A ping, which is sent on request, is always received."
      />
    </FormDialog>
  );
}
