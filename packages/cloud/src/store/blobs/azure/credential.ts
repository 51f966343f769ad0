// The names of the variables are those of Microsoft's own programs. A secret is in the environment only, never in a setting of ours, so that
// it is in no row of the database and in no line of the log.

/** The secret that lets a process into a storage account. */
export type AzureCredential = { readonly accountKey: string } | { readonly sasToken: string };

const KEY = "AZURE_STORAGE_KEY";
const SAS = "AZURE_STORAGE_SAS_TOKEN";
const CONNECTION = "AZURE_STORAGE_CONNECTION_STRING";
const ALL = [KEY, SAS, CONNECTION];
const BASE64 = /^[A-Za-z0-9+/]{8,}={0,2}$/;

/** The credential and the address of the storage account, as the environment gives them. */
export interface AzureAccess {
  readonly credential: AzureCredential;
  /** Undefined unless there is a connection string that says so. */
  readonly account: string | undefined;
  readonly endpoint: string | undefined;
}

/** The variable is missing or wrong. */
export class AzureCredentialError extends Error {
  readonly variable: string;
  readonly reason: string;

  constructor(variable: string, reason: string) {
    super(`${variable} ${reason}`);
    this.name = "AzureCredentialError";
    this.variable = variable;
    this.reason = reason;
  }
}

/** Finds it in the environment of this process, as the S3 client does with its own. */
export function findCredential(): AzureCredential {
  return readAccess(process.env).credential;
}

/** Throws an {@link AzureCredentialError}, whose message never shows a value. */
export function readAccess(environment: NodeJS.ProcessEnv): AzureAccess {
  const given = ALL.filter((name) => environment[name]);
  const [variable, other] = given;
  if (variable === undefined)
    throw new AzureCredentialError(KEY, `is missing; DOWNLINK_STORE=azure needs it, or ${SAS}, or ${CONNECTION}`);
  if (other !== undefined) throw new AzureCredentialError(other, `is set beside ${variable}; only one of them may be`);
  const value = environment[variable]!.trim();
  if (variable === CONNECTION) return readConnection(value);
  const credential = variable === KEY ? readKey(variable, value) : readSas(variable, value);
  return { credential, account: undefined, endpoint: undefined };
}

export function readKey(variable: string, value: string): AzureCredential {
  if (BASE64.test(value)) return { accountKey: value };
  throw new AzureCredentialError(variable, "is no key of a storage account, which is text in base 64");
}

export function readSas(variable: string, value: string): AzureCredential {
  const sasToken = value.replace(/^\?/, "");
  if (new URLSearchParams(sasToken).get("sig")) return { sasToken };
  throw new AzureCredentialError(variable, "is no shared access signature, which has a parameter sig");
}

/** Reads `name=value;name=value`. */
function readConnection(text: string): AzureAccess {
  const fields = new Map(
    text.split(";").map((field) => {
      const at = field.indexOf("=");
      return [field.slice(0, at).trim(), field.slice(at + 1).trim()] as const;
    }),
  );
  const [account, key, sas] = ["AccountName", "AccountKey", "SharedAccessSignature"].map((name) => fields.get(name));
  if (!key && !sas) throw new AzureCredentialError(CONNECTION, "has neither AccountKey nor SharedAccessSignature");
  return {
    credential: key ? readKey(CONNECTION, key) : readSas(CONNECTION, sas!),
    account,
    endpoint: fields.get("BlobEndpoint")?.replace(/\/+$/, "") ?? endpointOf(fields, account),
  };
}

function endpointOf(fields: ReadonlyMap<string, string>, account: string | undefined): string | undefined {
  const suffix = fields.get("EndpointSuffix");
  if (suffix === undefined || suffix === "core.windows.net" || account === undefined) return undefined;
  return `${fields.get("DefaultEndpointsProtocol") ?? "https"}://${account}.blob.${suffix}`;
}
