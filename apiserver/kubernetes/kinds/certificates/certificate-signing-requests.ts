import { isInForce } from '../../../../shared/api/changes';
import type { CertificateSigningRequest } from '../../../../shared/api/types/certificates-v1';
import { CERTIFICATE_REQUEST_BYTES_MAX } from '../../../../shared/certs/certificate-request';
import type { FieldError } from '../../../../shared/errors/field-error';
import { duplicate, invalid, required, tooLong } from '../../../../shared/errors/field-error';
import { goBytes } from '../../../../shared/errors/go-values';
import { pathSegmentName } from '../../../../shared/meta/name-rules';
import { SIGNER } from '../../../../shared/names';
import type { Strategy, SubresourceStrategy, WriteInfo } from '../../../engine/registry/strategy';
import type { LoopBounds } from '../../../engine/request/loop-bounds';
import { humanDuration } from '../../../engine/registry/object-table';
import { AGE, NAME } from '../columns/common';
import { NONE } from '../columns/format';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { choice, forEachItem, repeatsIn } from '../rules/primitives';
import { validateSignerName } from '../rules/signer-names';
import { csrApproval, csrStatus } from './csr-approval';
import type { PemBlock } from './pem-blocks';
import { certificateOfBlock, pemBlocks } from './pem-blocks';
import { certificateRequestProblem } from './pkcs10';

const EXPIRATION_SECONDS_MIN = 600;

/** What a new request for a certificate must be; its spec never changes afterwards. */
const certificateRequestRules: Pick<Strategy<CertificateSigningRequest>, 'validateNew'> = {
  validateNew: ({ spec: { request, signerName, usages = [], expirationSeconds: seconds } }, { via }) => {
    const isStrict = via.version !== 'v1beta1';
    return [
      ...validateRequest(request),
      ...validateUsages(usages, isStrict),
      ...(seconds === undefined || seconds >= EXPIRATION_SECONDS_MIN
        ? []
        : [
            invalid(
              'spec.expirationSeconds',
              seconds,
              'may not specify a duration less than 600 seconds (10 minutes)',
            ),
          ]),
      ...(isStrict && signerName === SIGNER.legacyUnknown
        ? [
            invalid(
              'spec.signerName',
              signerName,
              'the legacy signerName is not allowed via this API version',
            ),
          ]
        : validateSignerName(signerName, 'spec.signerName')),
    ];
  },
};

/** Reading a request takes longer than all else about it, so that its length is looked at first. */
function validateRequest(encoded: string | null | undefined): FieldError[] {
  const path = 'spec.request';
  const bytes = Buffer.from(encoded ?? '', 'base64');
  if (bytes.length > CERTIFICATE_REQUEST_BYTES_MAX) {
    return [tooLong(path, encoded ?? '', CERTIFICATE_REQUEST_BYTES_MAX)];
  }
  const problem = certificateRequestProblem(bytes.toString('latin1'));
  return problem === undefined ? [] : [invalid(path, goBytes(encoded), problem)];
}

const USAGES = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];

function validateUsages(usages: readonly string[], isStrict: boolean): FieldError[] {
  if (usages.length === 0) return [required('spec.usages', 'usages must be provided')];
  if (!isStrict) return [];
  const isRepeated = repeatsIn(usages);
  return [
    ...forEachItem(usages, 'spec.usages', (usage, path) => choice(usage, path, USAGES)),
    ...forEachItem(usages, 'spec.usages', (usage, path, index) =>
      isRepeated(index) ? [duplicate(path, usage)] : [],
    ),
  ];
}

/** No chain of certificates is longer. */
const BLOCKS_MAX = 100;

/** The status with the issued certificate: in v1 it is nothing but PEM blocks of certificates. What was stored before is let be. */
export function withCertificateRules(
  status: SubresourceStrategy<CertificateSigningRequest>,
): SubresourceStrategy<CertificateSigningRequest> {
  return {
    ...status,
    validateUpdate: (next, previous, info) => [
      ...(status.validateUpdate?.(next, previous, info) ?? []),
      ...(info.via.version === 'v1beta1' || certificateOf(next) === certificateOf(previous)
        ? []
        : validateCertificate(certificateOf(next), info.bounds)),
    ],
  };
}

function certificateOf({ status }: CertificateSigningRequest): string {
  return status?.certificate ?? '';
}

function validateCertificate(encoded: string, bounds: LoopBounds | undefined): FieldError[] {
  if (encoded === '') return [];
  const blocks = pemBlocks(Buffer.from(encoded, 'base64').toString('latin1'), bounds);
  const problem =
    blocks.length === 0
      ? 'must contain at least one CERTIFICATE PEM block'
      : blocks.length > BLOCKS_MAX
        ? `must contain at most ${String(BLOCKS_MAX)} PEM blocks`
        : blocks.map(blockProblem).find((each) => each !== '');
  return problem === undefined ? [] : [invalid('status.certificate', '<certificate data>', problem)];
}

function blockProblem(block: PemBlock): string {
  if (block.type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found "${block.type}"`;
  if (block.hasHeaders) return 'no PEM block headers are permitted';
  return certificateOfBlock(block) === undefined ? 'malformed certificate' : '';
}

const certificateRequestStrategy: Strategy<CertificateSigningRequest> = {
  nameRule: pathSegmentName,
  ...certificateRequestRules,
  selectableFields: { 'spec.signerName': '' },
  resets: { '': ['spec'], status: ['status.conditions'], approval: ['status.certificate'] },
  prepareForCreate: ofRequester,
  prepareForUpdate: (next, previous) => ({ ...next, spec: previous.spec }),
  subresources: { approval: csrApproval, status: withCertificateRules(csrStatus) },
};

/** Sets the requester to the authenticated user; values from the client are ignored. */
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

const signingRequestTable = tableOf<CertificateSigningRequest>([
  NAME,
  AGE,
  { name: 'SignerName', cell: ({ spec }) => (spec.signerName === '' ? NONE : spec.signerName) },
  { name: 'Requestor', cell: ({ spec }) => spec.username ?? '' },
  ...(isInForce('requestedDurationColumn') ? [{ name: 'RequestedDuration', cell: durationText }] : []),
  { name: 'Condition', cell: conditionText },
]);

function durationText({ spec: { expirationSeconds: seconds } }: CertificateSigningRequest): string {
  return seconds === undefined ? NONE : humanDuration(seconds * 1000);
}

/** A denial outweighs an approval. */
function conditionText({ status }: CertificateSigningRequest): string {
  const types = new Set((status?.conditions ?? []).map(({ type }) => type));
  const decision = types.has('Denied') ? 'Denied' : types.has('Approved') ? 'Approved' : 'Pending';
  const failed = types.has('Failed') ? ',Failed' : '';
  const issued = status?.certificate === undefined ? '' : ',Issued';
  return `${decision}${failed}${issued}`;
}

export const certificateSigningRequests: Kind<CertificateSigningRequest> = {
  strategy: certificateRequestStrategy,
  table: signingRequestTable,
};
