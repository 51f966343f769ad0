import type { Clock } from "../system/clock.ts";
import { correctedNs, type Instant, noteInstant } from "../system/instant.ts";
import { checkTools } from "./recording-tools.ts";

interface ProblemText {
  readonly title: string;
  readonly cause: string;
  readonly fix: string;
}

/** All problems that the agent may show, by their stable codes. Each of them makes `agent status` degraded. */
export const problemTexts = {
  StorageMissing: {
    title: "The storage root is not there",
    cause: "The marker file of the enrolled root is missing: the card or disk is not mounted, or the path is wrong.",
    fix: "Mount it. If the root moved for good, stop the agent (`systemctl stop downlink-agent`), run `agent enroll --storage-root DIR`, and start it again (`systemctl start downlink-agent`).",
  },
  StorageUnusable: {
    title: "The storage root exists but cannot be used",
    cause:
      "It has no marker file yet and the agent's user may not write to it, or its marker file cannot be read. Without the marker, an empty mount point looks like an empty root.",
    fix: "Mount it writable, or give the agent's user read and write permission; `agent install-service` does that for the service's user.",
  },
  DirectoryUnreadable: {
    title: "A directory cannot be read",
    cause: "The agent's user may not list it, or the disk reports errors. Its files are kept as last seen.",
    fix: "Give the agent's user read and search permission, or exclude it with DOWNLINK_WATCH_EXCLUDE.",
  },
  FileUnreadable: {
    title: "A file cannot be read",
    cause: "The agent's user may not read it, or the disk reports errors.",
    fix: "Give the agent's user read permission, or check the disk (dmesg).",
  },
  FileSetAside: {
    title: "A file was set aside because the agent was killed while it examined the file",
    cause:
      "The agent was killed more than once while it examined this file: the file needs more memory than there is, or a person killed the agent. All other files are examined; this one is tried again once a day, and when it changes.",
    fix: `Check it on another machine (${checkTools}). Moving it out of the storage root ends the problem.`,
  },
  WatchLimit: {
    title: "Directory notifications are not available",
    cause: "The system's limit of inotify watches or instances is reached. New files are found by scanning only.",
    fix: "Raise fs.inotify.max_user_watches, or set DOWNLINK_WATCH_USE_NOTIFY=false to accept it.",
  },
  ClockSkewed: {
    title: "This device's clock and the control plane's differ by more than a minute",
    cause:
      "This device's clock was never set, its battery is empty or it is not synchronized; or the control plane's clock is wrong. Nothing is deleted because of it, but recordings carry the times that this clock shows.",
    fix: "Set this device's clock: `timedatectl set-ntp true`, or by the robot's own time source (chrony, PTP, GPS). If it is right, set the control plane's clock.",
  },
  CloudUnreachable: {
    title: "The control plane cannot be reached",
    cause: "There is no network, or the server is down. The agent keeps trying.",
    fix: "Check the network and DOWNLINK_API_URL.",
  },
  NameUnresolved: {
    title: "The control plane's name cannot be resolved",
    cause: "No DNS server answers, or none knows the name in DOWNLINK_API_URL. The agent keeps trying.",
    fix: "Check the network, its DNS server (resolvectl query NAME) and DOWNLINK_API_URL.",
  },
  TlsFailed: {
    title: "A trusted TLS connection to the control plane fails",
    cause:
      "The server's certificate has expired, is for another name or was issued by an unknown authority, this device's clock is wrong, or the server does not speak TLS. Nothing was sent to it.",
    fix: "Check this device's clock and the server's certificate; name the certificate file of a private authority in DOWNLINK_CA_FILE.",
  },
  ProxyRefused: {
    title: "The proxy refuses connections to the control plane",
    cause: "The proxy requires a user and a password, or does not allow this host. The agent keeps trying.",
    fix: "Correct HTTPS_PROXY (http://user:password@host:port), have the proxy allow the control plane's host, or list the host in NO_PROXY.",
  },
  ForeignAnswer: {
    title: "Something else answers in place of the control plane",
    cause: "A captive portal or a proxy is in between, or the URL belongs to another service.",
    fix: "Log in to the network, or correct DOWNLINK_API_URL.",
  },
  CloudBusy: {
    title: "The control plane is busy or has an internal error",
    cause: "It answered with a rate limit or an internal error. The agent keeps trying.",
    fix: "Nothing needs to be done on this device.",
  },
  CloudStorageFull: {
    title: "The control plane's storage is full",
    cause: "It accepts no more bytes until there is free space.",
    fix: "Free or add storage at the control plane.",
  },
  CloudQuotaReached: {
    title: "The organization has reached its storage limit",
    cause:
      "The control plane's operator limits how many bytes or recordings the organization has. The files stay here, and their uploads are tried again.",
    fix: "Delete recordings that are no longer needed, or ask the operator for a higher limit (`downlink admin limits`).",
  },
  TokenRefused: {
    title: "The control plane refuses the token",
    cause: "The token is unknown, disabled or revoked, or belongs to no device.",
    fix: "Make a new device token, stop the agent (`systemctl stop downlink-agent`), run `agent enroll --token-file FILE`, and start it again (`systemctl start downlink-agent`). A token that can only create a device needs DOWNLINK_DEVICE_NAME.",
  },
  DeviceDisabled: {
    title: "The device is disabled",
    cause:
      "An admin disabled it, or it is new and no admin has enabled it yet. The agent lists its files and uploads nothing.",
    fix: "Enable the device in the control plane.",
  },
  DeviceNameTaken: {
    title: "The device's name is taken",
    cause: "The token can only create a device, and a device named DOWNLINK_DEVICE_NAME exists already.",
    fix: "Choose another name. If that device is this one, which lost its state: make a device token for it, stop the agent (`systemctl stop downlink-agent`), run `agent enroll --token-file FILE`, and start it again (`systemctl start downlink-agent`).",
  },
  LeaseHeldElsewhere: {
    title: "Another agent uses this token",
    cause: "A second agent runs, or this one lost its state less than a minute ago.",
    fix: "Stop the other agent, or give each device its own token. After a loss of state this problem ends by itself.",
  },
  Cloned: {
    title: "Two agents keep taking each other's lease",
    cause: "A state directory or a whole card was copied, and both copies run. The control plane serves neither.",
    fix: "Stop one of them and give it its own token and state directory; then release the device's agent in the control plane.",
  },
  Refused: {
    title: "The control plane refused a call",
    cause: "Agent and control plane do not understand each other; one of them may be too old.",
    fix: "Update both, then look at the agent's log.",
  },
  CloudSettingUnusable: {
    title: "The control plane sends a setting that this agent does not understand",
    cause: "The setting needs a newer agent, or was saved before such values were refused. The agent ignores it.",
    fix: "Correct it in the control plane, set it on this device, or update the agent.",
  },
  FileRefused: {
    title: "The control plane refuses the report of a file",
    cause: "It does not accept the file's metadata. All other files are reported.",
    fix: "Report this as a bug, with the log. Moving the file out of the storage root ends the problem.",
  },
  StateUnwritable: {
    title: "The state directory cannot be written",
    cause: "Its disk is full or read-only. Nothing is lost; newly found files wait.",
    fix: "Free space on the disk of DOWNLINK_STATE_DIR, or make it writable.",
  },
  StateSetAside: {
    title: "The state database was damaged and has been rebuilt",
    cause:
      "The usual cause is a power cut or a failing disk. Files are indexed and listed again; nothing is imported twice.",
    fix: "Check the disk. The damaged file is kept beside the new one.",
  },
  SiteUnreachable: {
    title: "A self-hosted site that takes uploads cannot be reached",
    cause:
      "The import goes to a self-hosted site whose process (`downlink site`) is down, or which this device cannot reach. The agent keeps trying; files for other sites are sent meanwhile.",
    fix: "Start the site, or check its address (`url` of the site, DOWNLINK_PUBLIC_URL there) and the network between this device and the site.",
  },
  UploadFailing: {
    title: "An upload keeps failing",
    cause: "Its last attempts failed. The agent keeps trying; other uploads continue.",
    fix: "See the detail; `agent ls --state requested` lists the files that wait.",
  },
  DeleteRefused: {
    title: "A file differs from what the control plane imported",
    cause:
      "The bytes on the device differ from the imported ones, although the file system shows no change. The file is kept.",
    fix: "Check the disk (dmesg), and keep a copy of the file before you remove it by hand.",
  },
  DeleteFailed: {
    title: "A file that may be deleted cannot be deleted",
    cause: "The agent's user may not write its directory, or the file system is read-only or has errors.",
    fix: "Give the agent's user write permission on the directories, or check the disk (dmesg).",
  },
  QuotaExceeded: {
    title: "The recordings exceed the disk limit, and nothing more may be deleted",
    cause:
      "DOWNLINK_MAX_DISK_BYTES or DOWNLINK_MIN_FREE_BYTES requires more free space; the files that are left are not imported or are in use.",
    fix: "Import more, raise the limit, or set DOWNLINK_PRUNE_UNIMPORTED=true to delete the oldest files without an import.",
  },
  DiskFull: {
    title: "The disk of the recordings is full",
    cause: "Less than 100 MB, or 1 % of a small disk, is free: new recordings cannot be written.",
    fix: "Free space, or set DOWNLINK_MIN_FREE_BYTES so that the agent frees space in time.",
  },
  SettingsInvalid: {
    title: "The settings file cannot be used as it is",
    cause: "It is missing, cannot be read, or has an invalid value. The agent continues with its previous settings.",
    fix: "Correct what the detail names; the agent applies it by itself. `agent config` checks the file.",
  },
  RestartNeeded: {
    title: "Changed settings wait for a restart",
    cause: "The agent's identity or its directories have changed in the file since the agent was started.",
    fix: "Start it again: `systemctl restart downlink-agent`. If the storage root or the state directory moved, run `agent enroll` and `agent install-service` first.",
  },
  MetricsUnavailable: {
    title: "Metrics cannot be served",
    cause:
      "The agent cannot listen at DOWNLINK_METRICS_ADDRESS: another program uses it, or the address is not this machine's.",
    fix: "Choose another address or port in the settings file; a running agent applies it within seconds.",
  },
  Internal: {
    title: "A part of the agent failed and was started again",
    cause: "This is a bug in the agent.",
    fix: "Report it, with the agent's log.",
  },
} as const satisfies Record<string, ProblemText>;

export type ProblemCode = keyof typeof problemTexts;

export interface Problem {
  readonly code: ProblemCode;
  readonly detail: string;
  /** When the problem began, in nanoseconds since the epoch by the clock as it is set at the time of the call. */
  readonly sinceNs: bigint;
}

/** The problems of this moment, each at most once. */
export interface ProblemBoard {
  raise(code: ProblemCode, detail: string): void;
  clear(...codes: readonly ProblemCode[]): void;
  list(): readonly Problem[];
}

/** `onChange` is called once when a problem begins, and once when it is over. */
export function createProblemBoard(
  clock: Clock,
  onChange: (problem: Problem, isOver: boolean) => void = () => {},
): ProblemBoard {
  const current = new Map<ProblemCode, { readonly detail: string; readonly since: Instant }>();
  const toProblem = (code: ProblemCode, { detail, since }: { detail: string; since: Instant }): Problem => {
    return { code, detail, sinceNs: correctedNs(since, clock) };
  };
  return {
    raise(code, detail) {
      const known = current.get(code);
      const problem = { detail, since: known?.since ?? noteInstant(clock) };
      current.set(code, problem);
      if (!known) onChange(toProblem(code, problem), false);
    },
    clear(...codes) {
      for (const code of codes) {
        const problem = current.get(code);
        if (problem && current.delete(code)) onChange(toProblem(code, problem), true);
      }
    },
    list: () => [...current].map(([code, problem]) => toProblem(code, problem)),
  };
}
