import type {
  PodCertificateRequest,
  PodCertificateRequestSpec,
} from '../../../../shared/api/types/certificates-v1beta1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, required, tooLong } from '../../../../shared/errors/field-error';
import { dns1123SubdomainProblems, qualifiedNameProblems } from '../../../../shared/meta/dns-names';
import type { Strategy } from '../../../engine/registry/strategy';
import { statusSubresource } from '../../../engine/registry/strategy';
import { NAME } from '../columns/common';
import { labelsText } from '../columns/format';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import type { Problems } from '../rules/primitives';
import { immutable, inRange, invalidForEach } from '../rules/primitives';
import { isOwnSigner, validateSignerName } from '../rules/signer-names';
import { validateIssuance } from './pod-certificate-issuance';
import { provenKeyErrors, requestedKeyErrors } from './pod-certificate-keys';

const HOUR_SECONDS = 3600;
const OWN_SECONDS_MAX = 24 * HOUR_SECONDS;
const SECONDS_MAX = 91 * 24 * HOUR_SECONDS;
const UID_BYTES_MAX = 128;
const ANNOTATIONS_BYTES_MAX = 256 * 1024;

/** A node agent's request for a certificate of one pod. Its spec never changes, and its status is decided once. */
const podCertificateRules: Pick<
  Strategy<PodCertificateRequest>,
  'validateNew' | 'validateUpdate' | 'subresources'
> = {
  validateNew: ({ spec }) => validateSpec(spec),
  validateUpdate: (next, previous) => immutable(next.spec, previous.spec, 'spec'),
  subresources: {
    status: {
      ...statusSubresource,
      validateUpdate: validateIssuance,
    },
  },
};

function validateSpec(spec: PodCertificateRequestSpec): FieldError[] {
  const { signerName, maxExpirationSeconds: seconds, unverifiedUserAnnotations: annotations = {} } = spec;
  const path = 'spec.maxExpirationSeconds';
  const errors = [
    ...validateSignerName(signerName, 'spec.signerName'),
    ...validateAnnotations(annotations, 'spec.unverifiedUserAnnotations'),
    ...named(spec.podName, 'spec.podName', dns1123SubdomainProblems),
    ...validateUid(spec.podUID, 'spec.podUID'),
    ...named(spec.serviceAccountName, 'spec.serviceAccountName', dns1123SubdomainProblems),
    ...validateUid(spec.serviceAccountUID, 'spec.serviceAccountUID'),
    ...named(spec.nodeName, 'spec.nodeName', dns1123SubdomainProblems),
    ...validateUid(spec.nodeUID, 'spec.nodeUID'),
  ];
  if (seconds === undefined) return [...errors, required(path, 'must be set')];
  const max = isOwnSigner(signerName) ? OWN_SECONDS_MAX : SECONDS_MAX;
  return [...errors, ...inRange(seconds, path, { min: HOUR_SECONDS, max }), ...validateKey(spec)];
}

function named(name: string, path: string, problems: Problems): FieldError[] {
  return invalidForEach(problems(name), name, path);
}

function validateUid(uid: string, path: string): FieldError[] {
  if (uid === '') return [invalid(path, uid, 'must not be empty')];
  return Buffer.byteLength(uid) > UID_BYTES_MAX ? [tooLong(path, uid, UID_BYTES_MAX)] : [];
}

/** Keys have a domain, and all together are limited as annotations are. */
function validateAnnotations(annotations: Readonly<Record<string, string>>, path: string): FieldError[] {
  const entries = Object.entries(annotations);
  const bytes = entries.reduce((sum, each) => sum + Buffer.byteLength(each.join('')), 0);
  return [
    ...entries.flatMap(([key]) => [
      ...invalidForEach(qualifiedNameProblems(key.toLowerCase()), key, path),
      ...(key.includes('/')
        ? []
        : [invalid(path, key, 'key must be a domain-prefixed path (e.g. "acme.io/foo")')]),
    ]),
    ...(bytes > ANNOTATIONS_BYTES_MAX ? [tooLong(path, '', ANNOTATIONS_BYTES_MAX)] : []),
  ];
}

/** The key is in a request that its owner signed, or comes with a signature of the pod's UID. */
function validateKey(spec: PodCertificateRequestSpec): FieldError[] {
  const [request, key, proof] = [spec.stubPKCS10Request, spec.pkixPublicKey, spec.proofOfPossession].map(
    (each) => Buffer.from(each ?? '', 'base64'),
  );
  const given = [request, key, proof].map((bytes) => (bytes?.length ?? 0) > 0).join();
  if (request !== undefined && given === 'true,false,false') return requestedKeyErrors(request);
  if (key !== undefined && proof !== undefined && given === 'false,true,true') {
    return provenKeyErrors({ key, proof, podUid: spec.podUID });
  }
  const why = 'exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set';
  return [invalid('spec', undefined, why)];
}

const STATES: readonly string[] = ['Issued', 'Denied', 'Failed'];

export const podCertificateRequests: Kind<PodCertificateRequest> = {
  strategy: {
    statusLeavesMetadata: true,
    requiresResourceVersion: true,
    selectableFields: { 'spec.signerName': '', 'spec.podName': '', 'spec.nodeName': '' },
    ...podCertificateRules,
  },
  table: tableOf<PodCertificateRequest>([
    NAME,
    { name: 'PodName', cell: ({ spec }) => spec.podName },
    { name: 'ServiceAccountName', cell: ({ spec }) => spec.serviceAccountName },
    { name: 'NodeName', cell: ({ spec }) => spec.nodeName },
    { name: 'SignerName', cell: ({ spec }) => spec.signerName },
    {
      name: 'State',
      cell: ({ status }) =>
        (status?.conditions ?? []).findLast(({ type }) => STATES.includes(type))?.type ?? 'Pending',
    },
    { name: 'UnverifiedUserAnnotations', cell: ({ spec }) => labelsText(spec.unverifiedUserAnnotations) },
  ]),
};
