import type { CertificateRequest } from '../../shared/certs/certificate-request';
import { parseCertificateRequest } from '../../shared/certs/certificate-request';
import type { Informer } from '../../shared/informer/informer';
import { createInformer } from '../../shared/informer/informer';
import type { ApiObject, GroupVersionResource } from '../../shared/object/object';
import { GROUP } from '../../shared/names';
import type { ControllerContext } from '../runtime/controller';

export const CERTIFICATE_REQUESTS: GroupVersionResource = {
  group: GROUP.certificates,
  version: 'v1',
  resource: 'certificatesigningrequests',
};

/** All requests, as they are now. */
export function requestInformer({
  reader: client,
  log,
}: ControllerContext): Informer<CertificateSigningRequest> {
  return createInformer({ client, resource: CERTIFICATE_REQUESTS, log });
}

export interface RequestCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastUpdateTime?: string | null;
  readonly lastTransitionTime?: string | null;
}

/** A v1 CertificateSigningRequest. */
export interface CertificateSigningRequest extends ApiObject {
  readonly spec: {
    /** PEM in base64. */
    readonly request: string;
    readonly signerName: string;
    readonly usages?: readonly string[];
    /** Who has made it, as the server saw it. */
    readonly username?: string;
    readonly uid?: string;
    readonly groups?: readonly string[];
    readonly extra?: Readonly<Record<string, readonly string[]>>;
  };
  readonly status?: {
    readonly conditions?: readonly RequestCondition[];
    /** PEM in base64. */
    readonly certificate?: string | null;
  };
}

export function conditionsOf({ status }: CertificateSigningRequest): readonly RequestCondition[] {
  return status?.conditions ?? [];
}

export function hasCondition(request: CertificateSigningRequest, type: string): boolean {
  return conditionsOf(request).some((condition) => condition.type === type);
}

/** Somebody has said yes or no. */
export function isDecided(request: CertificateSigningRequest): boolean {
  return hasCondition(request, 'Approved') || hasCondition(request, 'Denied');
}

export function isIssued({ status }: CertificateSigningRequest): boolean {
  return (status?.certificate ?? '') !== '';
}

/** The same request with one more condition. */
export function withCondition(
  request: CertificateSigningRequest,
  condition: RequestCondition,
): CertificateSigningRequest {
  return {
    ...request,
    status: { ...request.status, conditions: [...conditionsOf(request), condition] },
  };
}

/** What is asked for. Throws CertificateRequestError for what cannot be read. */
export function requestIn({ spec }: CertificateSigningRequest): CertificateRequest {
  return parseCertificateRequest(Buffer.from(spec.request, 'base64').toString('latin1'));
}
