import { SIGNER } from '../../names';
import type { Json } from '../conversion/json';
import { textAt } from '../conversion/json';
import type { RequestedNames } from './certificate-request';
import { requestedNames } from './certificate-request';
import type { DefaultsTable } from './contract';

/** v1 demands what v1beta1 fills in. */
export const CERTIFICATES: DefaultsTable = {
  'certificates/v1beta1.CertificateSigningRequestSpec': { derive: ofSpec },
  'certificates/v1beta1.CertificateSigningRequestCondition': { values: { status: 'True' } },
};

const USAGES = ['digital signature', 'key encipherment'];

function ofSpec(spec: Json): Json {
  const usages = Array.isArray(spec['usages']) ? (spec['usages'] as readonly unknown[]) : USAGES;
  const isSigned = spec['signerName'] !== undefined && spec['signerName'] !== null;
  return { usages, ...(isSigned ? {} : { signerName: signerOf(textAt(spec, 'request'), usages) }) };
}

/** Requests of node agents are recognised by what they ask for; everything else is for no known signer. */
function signerOf(request: string, usages: readonly unknown[]): string {
  const names = requestedNames(request);
  if (names === undefined || !isOfNode(names)) return SIGNER.legacyUnknown;
  const { alternatives } = names;
  if (alternatives.size === 0 && areExactly(usages, [...USAGES, 'client auth'])) {
    return SIGNER.apiServerClientNodeAgent;
  }
  const isServing =
    alternatives.size > 0 &&
    !alternatives.has('email') &&
    !alternatives.has('uri') &&
    areExactly(usages, [...USAGES, 'server auth']);
  return isServing ? SIGNER.nodeAgentServing : SIGNER.legacyUnknown;
}

function isOfNode({ commonName, organizations }: RequestedNames): boolean {
  return (
    organizations.length === 1 && organizations[0] === 'system:nodes' && commonName.startsWith('system:node:')
  );
}

function areExactly(usages: readonly unknown[], wanted: readonly string[]): boolean {
  const given = new Set(usages);
  return given.size === wanted.length && wanted.every((usage) => given.has(usage));
}
