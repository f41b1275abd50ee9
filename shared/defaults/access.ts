import type { Subject } from '../api/types/rbac-v1';
import { GROUP, SIGNER } from '../names';
import { apiVersionOf } from '../object/object';
import type { DefaultsTable, MessageDefaults } from './contract';
import type { CertificateRequest } from '../certs/certificate-request';
import { CertificateRequestError, parseCertificateRequest } from '../certs/certificate-request';
import { SIGNER_RULES } from '../certs/signer-rules';
import type { Part } from '../object/object';
import type { CertificateSigningRequestSpec } from '../api/types/certificates-v1beta1';

const roleRef: MessageDefaults<{ readonly apiGroup: string }> = { values: { apiGroup: GROUP.rbac } };
const subject: MessageDefaults<Subject> = {
  derive: ({ kind, apiGroup = '' }) =>
    isPerson(kind) && apiGroup === '' ? { apiGroup: GROUP.rbac } : undefined,
};

export const RBAC: DefaultsTable = {
  'rbac/v1.RoleRef': roleRef,
  'rbac/v1beta1.RoleRef': roleRef,
  'rbac/v1alpha1.RoleRef': roleRef,
  'rbac/v1.Subject': subject,
  'rbac/v1beta1.Subject': subject,
  'rbac/v1alpha1.Subject': {
    derive: ({ kind, apiVersion = '' }) => {
      if (apiVersion !== '') return undefined;
      if (kind === 'ServiceAccount') return { apiVersion: 'v1' };
      return isPerson(kind)
        ? { apiVersion: apiVersionOf({ group: GROUP.rbac, version: 'v1alpha1' }) }
        : undefined;
    },
  },
};

function isPerson(kind: string): boolean {
  return kind === 'User' || kind === 'Group';
}

export const AUTHENTICATION: DefaultsTable = {
  'authentication/v1.TokenRequestSpec': { values: { expirationSeconds: 3600 } },
};

/** v1 requires the fields that v1beta1 defaults. */
export const CERTIFICATES: DefaultsTable = {
  'certificates/v1beta1.CertificateSigningRequestSpec': { derive: ofSpec },
  'certificates/v1beta1.PodCertificateRequestSpec': { values: { maxExpirationSeconds: 86_400 } },
  'certificates/v1beta1.CertificateSigningRequestCondition': { values: { status: 'True' } },
};

const USAGES = ['digital signature', 'key encipherment'];

function ofSpec({
  usages = USAGES,
  signerName,
  request,
}: CertificateSigningRequestSpec): Part<CertificateSigningRequestSpec> {
  return { usages, ...(signerName === undefined ? { signerName: signerOf(request ?? '', usages) } : {}) };
}

/** Recognizes requests of kubelets by their content; other requests have no known signer. */
function signerOf(encoded: string, usages: readonly string[]): string {
  const request = requestOf(encoded);
  if (request === undefined) return SIGNER.legacyUnknown;
  const signers = [SIGNER.apiServerClientNodeAgent, SIGNER.nodeAgentServing];
  return (
    signers.find((signer) => SIGNER_RULES.get(signer)?.(request, usages) === undefined) ??
    SIGNER.legacyUnknown
  );
}

/** Parses a request; undefined for an invalid one, which validation refuses. */
function requestOf(encoded: string): CertificateRequest | undefined {
  try {
    return parseCertificateRequest(Buffer.from(encoded, 'base64').toString('latin1'));
  } catch (error) {
    if (error instanceof CertificateRequestError) return undefined;
    throw error;
  }
}
