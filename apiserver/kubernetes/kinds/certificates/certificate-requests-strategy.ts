import type { CertificateSigningRequest } from '../../../../shared/api/types/certificates-v1';
import { pathSegmentName } from '../../../../shared/meta/name-rules';
import type { Strategy, WriteInfo } from '../../../engine/registry/strategy';
import { csrApproval, csrStatus } from './csr-approval';
import { certificateRequestRules, withCertificateRules } from './certificate-requests-rules';

export const certificateRequests: Strategy<CertificateSigningRequest> = {
  nameRule: pathSegmentName,
  ...certificateRequestRules,
  selectableFields: { 'spec.signerName': '' },
  resets: { '': ['spec'], status: ['status.conditions'], approval: ['status.certificate'] },
  prepareForCreate: ofRequester,
  prepareForUpdate: (next, previous) => ({ ...next, spec: previous.spec }),
  subresources: { approval: csrApproval, status: withCertificateRules(csrStatus) },
};

/** Who asks for a certificate is who sent the request, whatever it says. */
function ofRequester(object: CertificateSigningRequest, { user }: WriteInfo): CertificateSigningRequest {
  const { username: _1, uid: _2, groups: _3, extra: _4, ...spec } = object.spec;
  return {
    ...object,
    spec: {
      ...spec,
      username: user.name,
      ...(user.uid === '' ? {} : { uid: user.uid }),
      groups: user.groups,
      ...(Object.keys(user.extra).length === 0 ? {} : { extra: user.extra }),
    },
  };
}
