import { RESOURCE } from '../../shared/api/resource-names';
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
} from '../../shared/api/types/certificates-v1';
import type { CertificateRequest } from '../../shared/certs/certificate-request';
import { parseCertificateRequest } from '../../shared/certs/certificate-request';
import { SERVICE_ACCOUNT } from '../../shared/names';
import type { Informer } from '../../shared/informer/informer';
import { createInformer } from '../../shared/informer/informer';
import type { Sent } from '../../shared/object/object';
import type { ControllerContext } from '../runtime/controller';

/** Follows all certificate signing requests. */
export function requestInformer({
  reader: client,
  log,
}: ControllerContext): Informer<CertificateSigningRequest> {
  return createInformer({ client, resource: RESOURCE.certificatesigningrequests, log });
}

/** Returns the author of a request, the accounts of a namespace as one: many requests of one author do not delay those of others. */
export function authorOf({ spec }: CertificateSigningRequest): string {
  const { username = '' } = spec;
  if (!username.startsWith(SERVICE_ACCOUNT.userPrefix)) return username;
  const [namespace = ''] = username.slice(SERVICE_ACCOUNT.userPrefix.length).split(':');
  return `${SERVICE_ACCOUNT.userPrefix}${namespace}`;
}

export function conditionsOf({
  status,
}: CertificateSigningRequest): readonly CertificateSigningRequestCondition[] {
  return status?.conditions ?? [];
}

export function hasCondition(request: CertificateSigningRequest, type: string): boolean {
  return conditionsOf(request).some((condition) => condition.type === type);
}

/** Reports whether the request has been approved or denied. */
export function isDecided(request: CertificateSigningRequest): boolean {
  return hasCondition(request, 'Approved') || hasCondition(request, 'Denied');
}

export function isIssued({ status }: CertificateSigningRequest): boolean {
  return (status?.certificate ?? '') !== '';
}

/** Returns a copy of the request with one more condition. */
export function withCondition(
  request: CertificateSigningRequest,
  condition: Pick<CertificateSigningRequestCondition, 'type' | 'status' | 'reason' | 'message'>,
): Sent<CertificateSigningRequest> {
  return {
    ...request,
    status: { ...request.status, conditions: [...conditionsOf(request), condition] },
  };
}

/** Parses `spec.request`. Throws CertificateRequestError if it cannot be parsed. */
export function requestIn({ spec }: CertificateSigningRequest): CertificateRequest {
  return parseCertificateRequest(Buffer.from(spec.request ?? '', 'base64').toString('latin1'));
}
