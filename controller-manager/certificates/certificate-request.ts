import { RESOURCE } from '../../shared/api/resource-names';
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
} from '../../shared/api/types/certificates-v1';
import type { CertificateRequest } from '../../shared/certs/certificate-request';
import { parseCertificateRequest } from '../../shared/certs/certificate-request';
import type { Informer } from '../../shared/informer/informer';
import { createInformer } from '../../shared/informer/informer';
import type { Sent } from '../../shared/object/object';
import type { ControllerContext } from '../runtime/controller';

/** All requests, as they are now. */
export function requestInformer({
  reader: client,
  log,
}: ControllerContext): Informer<CertificateSigningRequest> {
  return createInformer({ client, resource: RESOURCE.certificatesigningrequests, log });
}

export function conditionsOf({
  status,
}: CertificateSigningRequest): readonly CertificateSigningRequestCondition[] {
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

/** The same request with one more condition, to be sent. */
export function withCondition(
  request: CertificateSigningRequest,
  condition: Pick<CertificateSigningRequestCondition, 'type' | 'status' | 'reason' | 'message'>,
): Sent<CertificateSigningRequest> {
  return {
    ...request,
    status: { ...request.status, conditions: [...conditionsOf(request), condition] },
  };
}

/** What is asked for. Throws CertificateRequestError for what cannot be read. */
export function requestIn({ spec }: CertificateSigningRequest): CertificateRequest {
  return parseCertificateRequest(Buffer.from(spec.request ?? '', 'base64').toString('latin1'));
}
