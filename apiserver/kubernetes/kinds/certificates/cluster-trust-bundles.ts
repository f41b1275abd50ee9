import type { ClusterTrustBundle } from '../../../../shared/api/types/certificates-v1beta1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, tooLong } from '../../../../shared/errors/field-error';
import { dns1123SubdomainProblems } from '../../../../shared/meta/dns-names';
import type { Strategy } from '../../../engine/registry/strategy';
import type { LoopBounds } from '../../../engine/request/loop-bounds';
import { NAME } from '../columns/common';
import { NONE } from '../columns/format';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { forEachItem, immutable, invalidForEach } from '../rules/primitives';
import { validateSignerName } from '../rules/signer-names';
import type { PemBlock } from './pem-blocks';
import { certificateOfBlock, pemBlocks } from './pem-blocks';

const BUNDLE = 'spec.trustBundle';
const BUNDLE_BYTES_MAX = 1024 * 1024;
const OMITTED = '<value omitted>';

/** Trust anchors, of one signer or of no particular one. A bundle that an update leaves as it is is not parsed again. */
const trustBundleRules: Pick<Strategy<ClusterTrustBundle>, 'validate' | 'validateNew' | 'validateUpdate'> = {
  validate: ({ metadata: { name = '' }, spec: { signerName = '' } }) => [
    ...invalidForEach(nameProblems(name, signerName), name, 'metadata.name'),
    ...(signerName === '' ? [] : validateSignerName(signerName, 'spec.signerName')),
  ],
  validateNew: ({ spec }, { bounds }) => validateBundle(spec.trustBundle, bounds),
  validateUpdate: (next, previous, { bounds }) => [
    ...(next.spec.trustBundle === previous.spec.trustBundle
      ? []
      : validateBundle(next.spec.trustBundle, bounds)),
    ...immutable(next.spec.signerName ?? '', previous.spec.signerName ?? '', 'spec.signerName'),
  ],
};

/** The name of a signer's bundle begins with the signer. */
function nameProblems(name: string, signerName: string): readonly string[] {
  if (signerName === '') {
    return name.includes(':')
      ? ['ClusterTrustBundle without signer name must not have ":" in its name']
      : dns1123SubdomainProblems(name);
  }
  const prefix = `${signerName.replaceAll('/', ':')}:`;
  return name.startsWith(prefix)
    ? dns1123SubdomainProblems(name.slice(prefix.length))
    : [`ClusterTrustBundle for signerName ${signerName} must be named with prefix ${prefix}`];
}

function validateBundle(bundle: string, bounds: LoopBounds | undefined): FieldError[] {
  if (Buffer.byteLength(bundle) > BUNDLE_BYTES_MAX) return [tooLong(BUNDLE, '', BUNDLE_BYTES_MAX)];
  const blocks = pemBlocks(bundle, bounds);
  const errors = forEachItem(blocks, BUNDLE, (block, _path, index) => {
    const problem = blockProblem(block);
    return problem === undefined ? [] : [invalid(BUNDLE, OMITTED, `entry ${String(index)} ${problem}`)];
  });
  return errors.length > 0 ? errors : invalidForEach(anchorProblems(blocks), OMITTED, BUNDLE);
}

function blockProblem(block: PemBlock): string | undefined {
  if (block.type !== 'CERTIFICATE') return `has bad block type: ${block.type}`;
  if (block.hasHeaders) return 'has PEM block headers';
  const certificate = certificateOfBlock(block);
  if (certificate === undefined) return 'does not parse as X.509';
  return certificate.ca ? undefined : 'does not have the CA bit set';
}

function anchorProblems(blocks: readonly PemBlock[]): readonly string[] {
  if (blocks.length === 0) return ['at least one trust anchor must be provided'];
  const indices = new Map<string, number[]>();
  for (const [at, { body }] of blocks.entries()) {
    const bytes = Buffer.from(body, 'base64').toString('latin1');
    const equal = indices.get(bytes);
    if (equal === undefined) indices.set(bytes, [at]);
    else equal.push(at);
  }
  return [...indices.values()]
    .filter((equal) => equal.length > 1)
    .map((equal) => `duplicate trust anchor (indices [${equal.join(' ')}])`);
}

export const clusterTrustBundles: Kind<ClusterTrustBundle> = {
  strategy: {
    requiresResourceVersion: true,
    // The name depends on the signer, so that it is validated with the object.
    nameRule: () => [],
    selectableFields: { 'spec.signerName': '' },
    ...trustBundleRules,
  },
  table: tableOf<ClusterTrustBundle>([
    NAME,
    { name: 'SignerName', cell: ({ spec: { signerName = '' } }) => (signerName === '' ? NONE : signerName) },
  ]),
};
