import { deepEqual } from '../../../../shared/object/clone';
import type { CertificateSigningRequest } from '../../../../shared/api/types/certificates-v1';
import { GROUP, SIGNER, USER_GROUP } from '../../../../shared/names';
import type { Authorizer } from '../../../engine/request/access';
import type { UserInfo } from '../../../engine/request/exchange';
import { certificateRequestOrganizations } from '../../kinds/certificates/pkcs10';
import type { AdmissionPlugin } from '../plugin';
import { pluginOf, writesOf } from '../plugin';
import { refusal } from '../refusal';
import { CERTIFICATE_REQUESTS } from '../../cluster/resources';

/** Requires the verb `approve` on the signer to approve or deny a certificate request. */
export function certificateApproval(authorize: Authorizer): AdmissionPlugin {
  return pluginOf(writesOf(CERTIFICATE_REQUESTS, ['UPDATE'], 'approval'), {
    async validate(attributes, _cluster, signal) {
      const { object } = attributes;
      const { user } = attributes.write;
      const signer = signerOf(object);
      if (await maySigner(authorize, { user, verb: 'approve', signer }, signal)) return;
      throw refusal(attributes, `user not permitted to approve requests with signerName "${signer}"`);
    },
  });
}

const SIGNED = ['certificate', 'conditions'] as const;

/** Requires the verb `sign` on the signer to write the certificate or the conditions of a request. */
export function certificateSigning(authorize: Authorizer): AdmissionPlugin {
  return pluginOf(writesOf(CERTIFICATE_REQUESTS, ['UPDATE'], 'status'), {
    async validate(attributes, _cluster, signal) {
      const { object, oldObject } = attributes;
      const { user } = attributes.write;
      const [next, previous] = [object?.status, oldObject?.status];
      const isSame = SIGNED.every((field) => deepEqual(next?.[field], previous?.[field]));
      const signer = signerOf(oldObject);
      if (isSame || (await maySigner(authorize, { user, verb: 'sign', signer }, signal))) return;
      throw refusal(attributes, `user not permitted to sign requests with signerName "${signer}"`);
    },
  });
}

/** Refuses client certificate requests for the group system:masters. */
export const certificateSubjectRestriction = pluginOf(writesOf(CERTIFICATE_REQUESTS, ['CREATE']), {
  validate(attributes) {
    const { object } = attributes;
    if (signerOf(object) !== SIGNER.apiServerClient) return;
    const pem = Buffer.from(object?.spec.request ?? '', 'base64').toString('latin1');
    if (!certificateRequestOrganizations(pem).includes(USER_GROUP.masters)) return;
    throw refusal(
      attributes,
      `use of ${SIGNER.apiServerClient} signer with ${USER_GROUP.masters} group is not allowed`,
    );
  },
});

function signerOf(request: CertificateSigningRequest | undefined): string {
  return request?.spec.signerName ?? '';
}

/** Checks the permission for one signer, or for all signers of its domain. */
async function maySigner(
  authorize: Authorizer,
  { user, verb, signer }: { readonly user: UserInfo; readonly verb: string; readonly signer: string },
  signal: AbortSignal,
): Promise<boolean> {
  const names = [signer, `${signer.split('/')[0] ?? ''}/*`];
  for (const name of names) {
    const question = {
      user,
      verb,
      isResourceRequest: true,
      path: '',
      apiGroup: GROUP.certificates,
      apiVersion: '*',
      namespace: '',
      resource: 'signers',
      subresource: '',
      name,
    };
    if ((await authorize(question, signal)).decision === 'allow') return true;
  }
  return false;
}
