// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { Base64 } from '../../object/values';
import type { UserInfo } from './authentication-v1';
import type { GroupVersionKind, GroupVersionResource, Status } from './meta-v1';

export type AdmissionRequest = {
  readonly uid: string;
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  readonly subResource?: string;
  readonly requestKind?: GroupVersionKind;
  readonly requestResource?: GroupVersionResource;
  readonly requestSubResource?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly operation: string;
  readonly userInfo: UserInfo;
  readonly object: unknown;
  readonly oldObject: unknown;
  readonly dryRun?: boolean;
  readonly options: unknown;
};

export type AdmissionResponse = {
  readonly uid: string;
  readonly allowed: boolean;
  readonly status?: Status;
  readonly patch?: Base64;
  readonly patchType?: string;
  readonly auditAnnotations?: Readonly<Record<string, string>>;
  readonly warnings?: readonly string[];
};

export type AdmissionReview = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly request?: AdmissionRequest;
  readonly response?: AdmissionResponse;
};
