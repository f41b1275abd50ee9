import type { ApiObject } from '../../../shared/object/object';
import type { RowOf } from '../columns/cells';
import { NONE } from '../columns/format';
import { ageOf, listAt, nameOf, textAt, textOr } from '../columns/read';

export const signingRequestRow: RowOf = (request) => [
  nameOf(request),
  ageOf(request),
  textOr(NONE, request, 'spec', 'signerName'),
  textAt(request, 'spec', 'username'),
  conditionText(request),
];

/** A denial outweighs an approval. */
function conditionText(request: ApiObject): string {
  const types = new Set(listAt(request, 'status', 'conditions').map((each) => textAt(each, 'type')));
  const decision = types.has('Denied') ? 'Denied' : types.has('Approved') ? 'Approved' : 'Pending';
  const failed = types.has('Failed') ? ',Failed' : '';
  const issued = textAt(request, 'status', 'certificate') === '' ? '' : ',Issued';
  return `${decision}${failed}${issued}`;
}
