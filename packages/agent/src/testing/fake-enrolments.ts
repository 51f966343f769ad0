import { createHash } from "node:crypto";
import { RefusalError } from "./refusal.ts";

interface Enrolment {
  readonly enrolmentId: string;
  readonly tokenSha256: string;
  readonly deviceName: string;
  readonly enrolledWith: string;
}

interface Admission {
  readonly authorization: string | undefined;
  readonly call: string | undefined;
  readonly token: string;
  readonly enrolmentToken: string;
}

/** Devices that were created with an unassociated token, with the rules of the contract. */
export class FakeEnrolments {
  readonly made: Enrolment[] = [];
  readonly takenNames = new Set<string>();

  enroll(asked: Enrolment): unknown {
    const known = this.made.find(({ enrolmentId }) => enrolmentId === asked.enrolmentId);
    const isSame = known?.tokenSha256 === asked.tokenSha256 && known.enrolledWith === asked.enrolledWith;
    if (known && !isSame) throw new RefusalError("Conflict");
    if (!known && this.takenNames.has(asked.deviceName)) throw new RefusalError("NameTaken");
    if (!known) this.made.push(asked);
    this.takenNames.add(asked.deviceName);
    return { orgId: "org_1", projectId: "prj_1", device: { id: "dev_1", name: asked.deviceName, enabled: false } };
  }

  /** Refuses a token that is unknown, or not for this call. */
  admit({ authorization, call, ...tokens }: Admission): void {
    const token = authorization?.replace("Bearer ", "") ?? "";
    const isDevice = token === tokens.token || this.isEnrolled(token);
    if (token !== tokens.enrolmentToken && !isDevice) throw new RefusalError("Unauthenticated");
    if (isDevice && call === "enroll") throw new RefusalError("WrongCredentialKind");
    if (!isDevice && call !== "enroll") throw new RefusalError("DeviceTokenUnassociated");
  }

  isEnrolled(token: string): boolean {
    const sha256 = createHash("sha256").update(token).digest("hex");
    return this.made.some(({ tokenSha256 }) => tokenSha256 === sha256);
  }
}
