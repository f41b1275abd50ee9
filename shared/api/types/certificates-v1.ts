// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { Base64, Time } from '../../object/values';
import type { ListMeta, ObjectMeta } from './meta-v1';

/** A request for a certificate, which has to be approved and is then signed. */
export type CertificateSigningRequest = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: CertificateSigningRequestSpec;
  readonly status?: CertificateSigningRequestStatus;
};

export type CertificateSigningRequestCondition = {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastUpdateTime: Time | null;
  readonly lastTransitionTime: Time | null;
};

/** A list of objects of the kind CertificateSigningRequest. */
export type CertificateSigningRequestList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly CertificateSigningRequest[] | null;
};

export type CertificateSigningRequestSpec = {
  readonly request: Base64 | null;
  readonly signerName: string;
  readonly expirationSeconds?: number;
  readonly usages?: readonly string[];
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[] | null>>;
};

export type CertificateSigningRequestStatus = {
  readonly conditions?: readonly CertificateSigningRequestCondition[];
  readonly certificate?: Base64;
};
