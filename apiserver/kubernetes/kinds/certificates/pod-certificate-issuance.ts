import type { X509Certificate } from 'node:crypto';
import type { Condition } from '../../../../shared/api/types/meta-v1';
import type {
  PodCertificateRequest,
  PodCertificateRequestStatus,
} from '../../../../shared/api/types/certificates-v1beta1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, notSupported, required, tooLong } from '../../../../shared/errors/field-error';
import { parseTime } from '../../../../shared/meta/time';
import { deepEqual } from '../../../../shared/object/clone';
import type { WriteInfo } from '../../../engine/registry/strategy';
import { validateConditions } from '../rules/conditions';
import { forEachItem } from '../rules/primitives';
import { certificateOfBlock, pemBlocks } from './pem-blocks';
import { requestedKey } from './pod-certificate-keys';

const STATES = ['Issued', 'Denied', 'Failed'];
const CHAIN = 'status.certificateChain';
const CHAIN_BYTES_MAX = 100 * 1024;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const CLOCK_SKEW_MS = 5 * MINUTE_MS;
const REFRESH_MARGIN_MS = 10 * MINUTE_MS;
const ONLY_CERTIFICATES = 'issued certificate chain must consist entirely of CERTIFICATE PEM blocks';

/**
 * Validates a change of the status: a request is issued, denied or failed once, and its status never changes
 * afterwards.
 */
export function validateIssuance(
  next: PodCertificateRequest,
  previous: PodCertificateRequest,
  info: WriteInfo,
): FieldError[] {
  const status = next.status ?? {};
  const before = previous.status ?? {};
  const { conditions = [] } = status;
  const errors = [...validateStates(conditions), ...validateConditions(conditions, 'status.conditions')];
  if (errors.length > 0) return errors;
  if (isIn(STATES, before)) {
    return unchanged(status, before, 'immutable after PodCertificateRequest is issued, denied, or failed');
  }
  if (isIn(['Denied', 'Failed'], status)) {
    const why = 'non-condition status fields must be empty when denying or failing the PodCertificateRequest';
    return unchanged(status, { conditions }, why);
  }
  if (isIn(['Issued'], status)) return validateCertificate(previous, status, info);
  const why = 'status is immutable unless transitioning to "Issued", "Denied", or "Failed"';
  return unchanged(status, before, why);
}

function validateStates(conditions: readonly Condition[]): FieldError[] {
  const known = conditions.filter(({ type }) => STATES.includes(type));
  const why = 'There may be at most one condition with type "Issued", "Denied", or "Failed"';
  // Upstream makes the index a member of its own.
  return conditions.flatMap((condition, at) => {
    const path = `status.conditions.[${String(at)}]`;
    const { type, status } = condition;
    if (!STATES.includes(type)) return [notSupported(`${path}.type`, type, STATES)];
    return [
      ...(known.indexOf(condition) > 0 ? [invalid(`${path}.type`, type, why)] : []),
      ...(status === 'True' ? [] : [notSupported(`${path}.status`, status, ['True'])]),
    ];
  });
}

function isIn(states: readonly string[], { conditions = [] }: PodCertificateRequestStatus): boolean {
  return conditions.some(({ type, status }) => states.includes(type) && status === 'True');
}

function unchanged(
  status: PodCertificateRequestStatus,
  expected: PodCertificateRequestStatus,
  why: string,
): FieldError[] {
  return deepEqual(status, expected) ? [] : [invalid('status', undefined, why)];
}

/** As upstream, the first fault that later rules rely on ends the validation. */
function validateCertificate(
  { spec }: PodCertificateRequest,
  status: PodCertificateRequestStatus,
  { nowMs, bounds }: WriteInfo,
): FieldError[] {
  const { certificateChain: chain = '' } = status;
  if (Buffer.byteLength(chain) > CHAIN_BYTES_MAX) return [tooLong(CHAIN, '', CHAIN_BYTES_MAX)];
  const [first, ...others] = pemBlocks(chain, bounds);
  if (first === undefined) {
    return [invalid(CHAIN, chain, 'issued certificate chain must contain at least one certificate')];
  }
  if (first.type !== 'CERTIFICATE') return [invalid(CHAIN, chain, ONLY_CERTIFICATES)];
  const leaf = certificateOfBlock(first);
  if (leaf === undefined) return [invalid(CHAIN, chain, 'leaf certificate does not parse as valid X.509')];
  const key = requestedKey(spec);
  const errors = dnsNameErrors(leaf);
  if (key === undefined || !key.equals(leaf.publicKey.export({ type: 'spki', format: 'der' }))) {
    const why = 'leaf certificate was not issued to the requested public key';
    return [...errors, invalid(CHAIN, chain, why)];
  }
  const timeErrors = [
    ...errors,
    ...validateTimes(status, leaf, { nowMs, seconds: spec.maxExpirationSeconds }),
  ];
  if (timeErrors.length > 0) return timeErrors;
  const bad = others.find((block) => block.type !== 'CERTIFICATE' || certificateOfBlock(block) === undefined);
  if (bad === undefined) return [];
  const why =
    bad.type === 'CERTIFICATE' ? 'intermediate certificate does not parse as valid X.509' : ONLY_CERTIFICATES;
  return [invalid(CHAIN, chain, why)];
}

function dnsNameErrors(leaf: X509Certificate): FieldError[] {
  const names = (leaf.subjectAltName ?? '')
    .split(', ')
    .filter((each) => each.startsWith('DNS:'))
    .map((each) => each.slice('DNS:'.length));
  return forEachItem(names, CHAIN, (name) => {
    const subject = "leaf certificate's DNSName should not";
    return [
      ...(name === '' ? [invalid(CHAIN, name, 'leaf certificate should not contain empty DNSName')] : []),
      ...(name.includes('..') ? [invalid(CHAIN, name, `${subject} contain '..'`)] : []),
      ...(name.startsWith('.') || name.endsWith('.')
        ? [invalid(CHAIN, name, `${subject} start or end with '.'`)]
        : []),
    ];
  });
}

const CONSISTENT = 'must be present and consistent with the issued certificate';
const REFRESH_RANGE = 'must be present and in the range [notbefore+10min, notafter-10min]';

function validateTimes(
  { notBefore, notAfter, beginRefreshAt: refresh }: PodCertificateRequestStatus,
  leaf: X509Certificate,
  { nowMs, seconds = 0 }: { readonly nowMs: number; readonly seconds: number | undefined },
): FieldError[] {
  if (notBefore === undefined || notAfter === undefined || refresh === undefined) {
    return [
      ...(notBefore === undefined ? [required('status.notBefore', CONSISTENT)] : []),
      ...(notAfter === undefined ? [required('status.notAfter', CONSISTENT)] : []),
      ...(refresh === undefined ? [required('status.beginRefreshAt', REFRESH_RANGE)] : []),
    ];
  }
  const [startMs, endMs, refreshMs] = [notBefore, notAfter, refresh].map(
    (each) => parseTime(each) ?? NaN,
  ) as [number, number, number];
  const lifetimeMs = endMs - startMs;
  const rules: readonly (readonly [isGood: boolean, path: string, why: string])[] = [
    [
      startMs === Date.parse(leaf.validFrom),
      'notBefore',
      'must be set to the NotBefore time encoded in the leaf certificate',
    ],
    [
      Math.abs(startMs - nowMs) < CLOCK_SKEW_MS,
      'notBefore',
      "must be set to within 5 minutes of kube-apiserver's current time",
    ],
    [
      endMs === Date.parse(leaf.validTo),
      'notAfter',
      'must be set to the NotAfter time encoded in the leaf certificate',
    ],
    [lifetimeMs >= HOUR_MS, 'certificateChain', 'leaf certificate lifetime must be >= 1 hour'],
    [
      lifetimeMs <= seconds * 1000,
      'certificateChain',
      `leaf certificate lifetime must be <= spec.maxExpirationSeconds (${String(seconds)})`,
    ],
    [
      refreshMs >= startMs + REFRESH_MARGIN_MS,
      'beginRefreshAt',
      'must be at least 10 minutes after status.notBefore',
    ],
    [
      refreshMs <= endMs - REFRESH_MARGIN_MS,
      'beginRefreshAt',
      'must be at least 10 minutes before status.notAfter',
    ],
  ];
  const broken = rules.find(([isGood]) => !isGood);
  return broken === undefined ? [] : [invalid(`status.${broken[1]}`, undefined, broken[2])];
}
