import type { CertificateSigningRequest } from '../../../../shared/api/types/certificates-v1';
import { AGE, NAME } from '../columns/common';
import { NONE } from '../columns/format';
import { tableOf } from '../columns/table';

export const signingRequestTable = tableOf<CertificateSigningRequest>([
  NAME,
  AGE,
  { name: 'SignerName', cell: ({ spec }) => (spec.signerName === '' ? NONE : spec.signerName) },
  { name: 'Requestor', cell: ({ spec }) => spec.username ?? '' },
  { name: 'Condition', cell: conditionText },
]);

/** A denial outweighs an approval. */
function conditionText({ status }: CertificateSigningRequest): string {
  const types = new Set((status?.conditions ?? []).map(({ type }) => type));
  const decision = types.has('Denied') ? 'Denied' : types.has('Approved') ? 'Approved' : 'Pending';
  const failed = types.has('Failed') ? ',Failed' : '';
  const issued = status?.certificate === undefined ? '' : ',Issued';
  return `${decision}${failed}${issued}`;
}
