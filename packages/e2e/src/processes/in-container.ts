import type { Azurite } from "@downlink/cloud/testing/run-azurite";

/** Returns the settings with which a control plane keeps its objects in a container of that Azurite. */
export function inContainer({ account, endpoint, accountKey }: Azurite, container: string): Record<string, string> {
  return {
    DOWNLINK_STORE: "azure",
    DOWNLINK_AZURE_ACCOUNT: account,
    DOWNLINK_AZURE_CONTAINER: container,
    DOWNLINK_AZURE_ENDPOINT: endpoint,
    DOWNLINK_AZURE_PREFIX: "downlink/",
    AZURE_STORAGE_KEY: accountKey,
  };
}
