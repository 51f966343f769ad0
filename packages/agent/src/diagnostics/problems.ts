import type { Clock } from "../system/clock.ts";
import { correctedNs, type Instant, noteInstant } from "../system/instant.ts";

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
    title: "The storage root is there and cannot be used",
    cause:
      "It bears no marker yet and is mounted read-only or not this user's to write, or its marker may not be read. Without one an empty mount point looks like an empty root.",
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
    title: "A file was set aside because the agent ended while it examined it",
    cause:
      "The agent was killed more than once at this file: its content takes more memory than there is, or somebody killed the agent. All other files are examined; this one is tried again once a day, and when it changes.",
    fix: "Look at it on another machine (`mcap doctor`, `rosbag check`). Moving it out of the storage root ends the complaint.",
  },
  WatchLimit: {
    title: "Directory notifications are not available",
    cause: "The system's limit of inotify watches or instances is reached. New files are found by scanning only.",
    fix: "Raise fs.inotify.max_user_watches, or set DOWNLINK_WATCH_USE_NOTIFY=false to accept it.",
  },
  ClockSkewed: {
    title: "This device's clock and the control plane's differ by more than a minute",
    cause:
      "This device's clock was never set, has lost its battery or is not kept right; or the control plane's is wrong. Nothing is deleted because of it, but recordings bear the times that this clock shows.",
    fix: "Set this device's clock: `timedatectl set-ntp true`, or as the robot sets its clocks otherwise (chrony, PTP, GPS). If it is right, set that of the control plane.",
  },
  CloudUnreachable: {
    title: "The control plane cannot be reached",
    cause: "No network, or the server is down. The agent keeps trying.",
    fix: "Check the network and DOWNLINK_API_URL.",
  },
  NameUnresolved: {
    title: "The control plane's name cannot be resolved",
    cause: "No name server answers, or none knows the name in DOWNLINK_API_URL. The agent keeps trying.",
    fix: "Check the network, its name server (resolvectl query NAME) and DOWNLINK_API_URL.",
  },
  TlsFailed: {
    title: "No trusted connection to the control plane comes about",
    cause:
      "Its certificate has expired, is for another name or of an unknown authority, this device's clock is wrong, or what answers there speaks no TLS. Nothing was sent to it.",
    fix: "Check the clock of this device and the server's certificate; a private authority is named with DOWNLINK_CA_FILE.",
  },
  ProxyRefused: {
    title: "The proxy lets nothing pass to the control plane",
    cause: "It asks for a user and a password, or may not open this way. The agent keeps trying.",
    fix: "Correct HTTPS_PROXY (http://user:password@host:port), have the proxy allow the control plane's host, or name the host in NO_PROXY.",
  },
  ForeignAnswer: {
    title: "Something else answers in place of the control plane",
    cause: "A captive portal or a proxy stands in between, or the URL is of another service.",
    fix: "Log in to the network, or correct DOWNLINK_API_URL.",
  },
  CloudBusy: {
    title: "The control plane asks to wait or has trouble",
    cause: "It answered with a limit or a fault of its own. The agent keeps trying.",
    fix: "None on this device.",
  },
  CloudStorageFull: {
    title: "The control plane's storage is full",
    cause: "It takes no more bytes until there is room.",
    fix: "Free or add storage at the control plane.",
  },
  CloudQuotaReached: {
    title: "The organization has stored as much as it may",
    cause:
      "The control plane's operator limits how many bytes or recordings the organization has. The files stay here, and their uploads are tried again.",
    fix: "Delete recordings that nobody needs, or have the operator allow more (`downlink admin limits`).",
  },
  TokenRefused: {
    title: "The token is refused",
    cause: "It is unknown, disabled or revoked, or belongs to no device.",
    fix: "Make a new device token, stop the agent (`systemctl stop downlink-agent`), run `agent enroll --token-file FILE`, and start it again (`systemctl start downlink-agent`). A token that can only create a device needs DOWNLINK_DEVICE_NAME.",
  },
  DeviceDisabled: {
    title: "The device is disabled",
    cause:
      "An admin disabled it, or it is new and nobody has approved it yet. It lists its files; nothing is uploaded.",
    fix: "Enable the device in the control plane.",
  },
  DeviceNameTaken: {
    title: "The device's name is taken",
    cause: "The token can only create a device, and one named DOWNLINK_DEVICE_NAME is there already.",
    fix: "Take another name. If it is this very device, which lost its state: make a device token for it, stop the agent (`systemctl stop downlink-agent`), run `agent enroll --token-file FILE`, and start it again (`systemctl start downlink-agent`).",
  },
  LeaseHeldElsewhere: {
    title: "Another agent works with this token",
    cause: "A second agent runs, or this one lost its state less than a minute ago.",
    fix: "Stop the other agent, or give each device a token of its own. After a loss of state it ends by itself.",
  },
  Cloned: {
    title: "Two agents keep taking each other's lease",
    cause: "A state directory or a whole card was copied, and both copies run. None of them is served.",
    fix: "Stop one and give it a token and a state directory of its own; then release the agent of the device in the control plane.",
  },
  Refused: {
    title: "The control plane refused a call",
    cause: "Agent and control plane disagree; perhaps one of them is too old.",
    fix: "Update both, then look at the log of the agent.",
  },
  CloudSettingUnusable: {
    title: "The control plane sets something that this agent does not understand",
    cause:
      "It is set for a later agent, or was set before such values were refused. As long as it is, the agent does without.",
    fix: "Correct it in the control plane, set it on this device, or update the agent.",
  },
  FileRefused: {
    title: "The control plane refuses to hear of a file",
    cause: "It does not accept what the file says of itself. All other files are reported.",
    fix: "Report it, with the log; moving the file out of the storage root ends the complaint.",
  },
  StateUnwritable: {
    title: "The state directory cannot be written",
    cause: "Its disk is full or read-only. Nothing is lost; new findings wait.",
    fix: "Free space on the disk of DOWNLINK_STATE_DIR, or make it writable.",
  },
  StateSetAside: {
    title: "The state database was damaged and has been rebuilt",
    cause: "A power cut or a failing disk. Files are indexed and listed again; nothing is imported twice.",
    fix: "Check the disk. The damaged file is kept beside the new one.",
  },
  SiteUnreachable: {
    title: "A self-hosted site that takes uploads cannot be reached",
    cause:
      "The import goes to a site of your own, whose process (`downlink site`) is down, or to which this device has no way. The agent keeps trying; files that go elsewhere are sent meanwhile.",
    fix: "Start the site, or check its address (`url` of the site, DOWNLINK_PUBLIC_URL there) and this device's way to it.",
  },
  UploadFailing: {
    title: "An upload does not come through",
    cause: "Its last tries failed. The agent keeps trying; other uploads go on.",
    fix: "See the detail; `agent ls --state requested` lists what waits.",
  },
  DeleteRefused: {
    title: "A file is not what the control plane imported of it",
    cause:
      "The bytes on the device differ from the imported ones although nothing about the file shows it. It is kept.",
    fix: "Check the disk (dmesg), and keep a copy of the file before it is removed by hand.",
  },
  DeleteFailed: {
    title: "A file that may go cannot be deleted",
    cause: "The agent's user may not write its directory, or the file system is read-only or has errors.",
    fix: "Give the agent's user write permission on the directories, or check the disk (dmesg).",
  },
  QuotaExceeded: {
    title: "The recordings take more room than they may, and nothing more may be deleted",
    cause:
      "DOWNLINK_MAX_DISK_BYTES or DOWNLINK_MIN_FREE_BYTES asks for room; what is left is not imported or is in use.",
    fix: "Import more, raise the quota, or set DOWNLINK_PRUNE_UNIMPORTED=true to give up the oldest.",
  },
  DiskFull: {
    title: "The disk of the recordings is full",
    cause: "Less than 100 MB, or 1 % of a small disk, are free: new recordings cannot be written.",
    fix: "Free space, or set DOWNLINK_MIN_FREE_BYTES so that the agent does in time.",
  },
  SettingsInvalid: {
    title: "The settings file cannot be used as it is",
    cause: "It is gone, cannot be read, or says what cannot be. The agent works on with the settings that it had.",
    fix: "Correct what the detail names; it is taken up by itself. `agent config` checks the file.",
  },
  RestartNeeded: {
    title: "Changed settings wait for a restart",
    cause:
      "The file says something else about who the agent is or where its things are than when the agent was started.",
    fix: "Start it again: `systemctl restart downlink-agent`. Where root or state directory moved, run `agent enroll` and `agent install-service` first.",
  },
  MetricsUnavailable: {
    title: "Metrics cannot be served",
    cause:
      "The agent cannot listen at DOWNLINK_METRICS_ADDRESS: another program does, or the address is not this machine's.",
    fix: "Choose another address or port in the settings file; a running agent takes it up within seconds.",
  },
  Internal: {
    title: "A part of the agent failed and was started again",
    cause: "A fault of the agent.",
    fix: "Report it, with the log.",
  },
} as const satisfies Record<string, ProblemText>;

export type ProblemCode = keyof typeof problemTexts;

export interface Problem {
  readonly code: ProblemCode;
  readonly detail: string;
  /** When the problem began, in nanoseconds since the epoch by the clock as it is set when somebody asks. */
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
