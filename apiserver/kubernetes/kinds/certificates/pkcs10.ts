import {
  CertificateRequestError,
  parseCertificateRequest,
} from '../../../../shared/certs/certificate-request';

/** Why the PEM text is no certificate signing request whose signature is that of its own key; undefined for a good one. */
export function certificateRequestProblem(pem: string): string | undefined {
  try {
    return parseCertificateRequest(pem).isSignedByItself() ? undefined : 'the signature does not match';
  } catch (error) {
    if (error instanceof CertificateRequestError) return error.message;
    // The key or the algorithm is unknown to this server.
    return `malformed request: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** The organizations in the subject of a request, which become groups; none where the text is no request. */
export function certificateRequestOrganizations(pem: string): readonly string[] {
  try {
    return parseCertificateRequest(pem).organizations;
  } catch {
    // What cannot be read is refused by validation, or came from a version that is not strict about it.
    return [];
  }
}
