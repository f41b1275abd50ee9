// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { Base64, Time } from '../../object/values';
import type { Condition, ListMeta, ObjectMeta } from './meta-v1';

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
  readonly signerName?: string;
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

export type ClusterTrustBundle = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: ClusterTrustBundleSpec;
};

/** A list of objects of the kind ClusterTrustBundle. */
export type ClusterTrustBundleList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly ClusterTrustBundle[] | null;
};

export type ClusterTrustBundleSpec = {
  readonly signerName?: string;
  readonly trustBundle: string;
};

export type PodCertificateRequest = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: PodCertificateRequestSpec;
  readonly status?: PodCertificateRequestStatus;
};

/** A list of objects of the kind PodCertificateRequest. */
export type PodCertificateRequestList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly PodCertificateRequest[] | null;
};

export type PodCertificateRequestSpec = {
  readonly signerName: string;
  readonly podName: string;
  readonly podUID: string;
  readonly serviceAccountName: string;
  readonly serviceAccountUID: string;
  readonly nodeName: string;
  readonly nodeUID: string;
  readonly maxExpirationSeconds?: number;
  readonly pkixPublicKey: Base64 | null;
  readonly proofOfPossession: Base64 | null;
  readonly stubPKCS10Request: Base64 | null;
  readonly unverifiedUserAnnotations?: Readonly<Record<string, string>>;
};

export type PodCertificateRequestStatus = {
  readonly conditions?: readonly Condition[];
  readonly certificateChain?: string;
  readonly notBefore?: Time;
  readonly beginRefreshAt?: Time;
  readonly notAfter?: Time;
};
