import type { CertificateRequest } from '../certs/certificate-request';
import { CertificateRequestError, parseCertificateRequest } from '../certs/certificate-request';
import { SIGNER_RULES } from '../certs/signer-rules';
import { SIGNER } from '../names';
import type { Part } from '../object/object';
import type { CertificateSigningRequestSpec } from '../api/types/certificates-v1beta1';
import type { DefaultsTable } from './contract';

/** v1 requires the fields that v1beta1 defaults. */
export const CERTIFICATES: DefaultsTable = {
  'certificates/v1beta1.CertificateSigningRequestSpec': { derive: ofSpec },
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
