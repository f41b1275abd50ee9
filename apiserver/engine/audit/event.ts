import { eventText } from './event-text';

/** How much of a request is recorded. */
export const LEVELS = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
export type Level = (typeof LEVELS)[number];
export type RecordedLevel = Exclude<Level, 'None'>;

/** The stages of a request at which an event is created. */
export const STAGES = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;
export type Stage = (typeof STAGES)[number];

/** The versions in which events can be written and policies read. */
export const AUDIT_VERSIONS = ['v1', 'v1beta1', 'v1alpha1'] as const;
export type AuditVersion = (typeof AUDIT_VERSIONS)[number];

/** A user in an event. */
export interface UserFacts {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** The attributes of a request before it is handled, with the JSON field names. */
export interface RequestFacts {
  readonly requestURI: string;
  readonly verb: string;
  readonly user: UserFacts;
  /** The impersonated user, if any. */
  readonly impersonatedUser?: UserFacts;
  readonly sourceIPs?: readonly string[];
  readonly userAgent?: string;
}

export interface ObjectReference {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly resourceVersion: string;
  readonly subresource: string;
}

/** The bounded part of a Status. */
export interface ResponseStatus {
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly code: number;
}

export interface EventFields {
  readonly level: RecordedLevel;
  readonly auditId: string;
  readonly stage: Stage;
  readonly request: RequestFacts;
  /** The JSON of `request`, made once for all events of a request. */
  readonly requestJson: string;
  readonly objectRef: ObjectReference | undefined;
  readonly responseStatus: ResponseStatus | undefined;
  /** JSON. */
  readonly requestObject: Buffer | undefined;
  readonly responseObject: Buffer | undefined;
  /** Milliseconds since the epoch, with a fraction of microseconds. */
  readonly receivedAtMs: number;
  readonly stageAtMs: number;
  readonly annotations: Readonly<Record<string, string>> | undefined;
}

/** The immutable event of one stage of a request. */
export class AuditEvent {
  readonly fields: EventFields;
  #texts: readonly EventText[] = [];

  constructor(fields: EventFields) {
    this.fields = fields;
  }

  /** The fields as JSON in the given version, from `"level":` to the closing brace; made once per version. */
  text(version: AuditVersion): string {
    return this.#textOf(version).text;
  }

  /** The length of `text` as it is written. */
  bytes(version: AuditVersion): number {
    return this.#textOf(version).bytes;
  }

  #textOf(version: AuditVersion): EventText {
    const known = this.#texts.find((each) => each.version === version);
    if (known !== undefined) return known;
    const text = eventText(this.fields, version);
    const made = { version, text, bytes: Buffer.byteLength(text) };
    this.#texts = [...this.#texts, made];
    return made;
  }
}

interface EventText {
  readonly version: AuditVersion;
  readonly text: string;
  readonly bytes: number;
}
