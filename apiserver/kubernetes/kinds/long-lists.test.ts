import type { CertificateSigningRequest } from '../../../shared/api/types/certificates-v1';
import type { FieldError } from '../../../shared/errors/field-error';
import { ERRORS_SHOWN_MAX } from '../../../shared/errors/field-error';
import { validateLabelSelector } from '../../../shared/meta/validate-labels';
import { decodeObject } from '../../../shared/schema/decode';
import { messageType } from '../../../shared/schema/types';
import { DEFAULT_KIND_SETTINGS, statusSubresource } from '../../engine/registry/strategy';
import { validateClaimSpec } from './pod-template/claim-template';
import { withCertificateRules } from './certificates/certificate-signing-requests';
import { validateListAndMapTypes } from './apiextensions/crd-list-types';
import { validateFieldRef } from './pod-template/downward-api';
import { validateFlowConditions } from './flowcontrol/mandatory-flow';
import { nodeRules } from './core/nodes';
import { resourceQuotaRules } from './core/resource-quotas';
import { serviceRules } from './core/services/service-rules';
import { storageClassRules } from './storage/storage-classes';
import { iscsiVolume } from './rules/storage-drivers';
import { validateHostAliases, validateTopologySpread } from './pod-template/scheduling';
import { validateTolerationsUpdate } from './pod-template/tolerations';
import { validateVolumes } from './pod-template/volumes';
import { validateWebhookRule } from './admissionregistration/webhook-configurations';
import { portWarnings } from './warnings/container-warnings';
import { keyPairProblem } from './warnings/core-warnings';
import { sharedPathWarnings } from './warnings/shared-paths';
import { withWarnings } from './warnings/warnings';

/*
 * Lists as long as a request can hold them. Looking through a list once for each of its items took up to half a minute, in which the
 * server answered no request: far more than a test may take.
 */
const LENGTH = 60_000;

const numbered = <T>(make: (index: number) => T): T[] =>
  Array.from({ length: LENGTH }, (_, index) => make(index));
const fieldsOf = (errors: readonly FieldError[] | undefined): string[] =>
  (errors ?? []).map(({ field }) => field);
/** No rule of these kinds asks for anything else. */
const validate = (
  rules: {
    readonly validate?: ((object: never, info: never) => readonly FieldError[]) | undefined;
    readonly validateNew?: ((object: never, info: never) => readonly FieldError[]) | undefined;
  },
  object: object,
): string[] => fieldsOf((rules.validate ?? rules.validateNew)?.(object as never, { settings: {} } as never));

test('one duplicate among very many taints is found', () => {
  const taints = numbered((index) => ({ key: `k${String(index % (LENGTH - 1))}`, effect: 'NoSchedule' }));
  expect(validate(nodeRules, { metadata: { name: 'n' }, spec: { taints } })).toEqual([
    `metadata.taints[${String(LENGTH - 1)}]`,
  ]);
});

test('one duplicate among very many topology constraints is found at its first index', () => {
  const constraints = numbered((index) => ({
    maxSkew: 1,
    topologyKey: `k${String(index % (LENGTH - 1))}`,
    whenUnsatisfiable: 'ScheduleAnyway',
  }));
  expect(fieldsOf(validateTopologySpread(constraints, 'at', DEFAULT_KIND_SETTINGS))).toEqual([
    'at[0].{topologyKey, whenUnsatisfiable}',
  ]);
});

test('the one toleration of very many that a change takes away is missed', () => {
  const tolerations = numbered((index) => ({
    key: `k${String(index)}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 1,
  }));
  const longer = tolerations.map((each) => ({ ...each, tolerationSeconds: 2 }));
  expect(validateTolerationsUpdate(longer, tolerations, 'at')).toEqual([]);
  expect(fieldsOf(validateTolerationsUpdate(longer.slice(0, -1), tolerations, 'at'))).toEqual(['at']);
});

test('one duplicate among very many terms is found', () => {
  const allowedTopologies = numbered((index) => ({
    matchLabelExpressions: [{ key: 'zone', values: [String(index % (LENGTH - 1))] }],
  }));
  const storageClass = {
    metadata: { name: 's' },
    provisioner: 'p',
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'Immediate',
    allowedTopologies,
  };
  expect(validate(storageClassRules, storageClass)).toEqual([
    `allowedTopologies[${String(LENGTH - 1)}].matchLabelExpressions`,
  ]);
});

test('a resource that an earlier one covers is found among very many, and a later one is not', () => {
  const resources = ['b/log', ...numbered((index) => `r${String(index)}/status`), 'a/*', 'a/status', 'b/*'];
  const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources };
  expect(fieldsOf(validateWebhookRule(rule, 'at'))).toEqual([`at.resources[${String(LENGTH + 2)}]`]);
});

test('one error lists all invalid scopes', () => {
  const scopes = numbered(() => 'x');
  const hard = Object.fromEntries(numbered((index) => [`requests.hugepages-${String(index + 1)}Ki`, '1']));
  const scopeSelector = {
    matchExpressions: numbered(() => ({ scopeName: 'BestEffort', operator: 'Exists' })),
  };
  const quota = { metadata: { name: 'q' }, spec: { scopes: [...scopes, 'BestEffort'], scopeSelector, hard } };
  expect(validate(resourceQuotaRules, quota)).toEqual([
    'spec.scopes',
    'spec.scopes',
    'spec.scopeSelector.matchExpressions',
  ]);
});

test('one error lists all invalid keys of a list', () => {
  const keys = numbered((index) => `k${String(index % (LENGTH / 2))}`);
  const schema = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': keys,
    items: { type: 'object', properties: { a: { type: 'string' } } },
  };
  expect(fieldsOf(validateListAndMapTypes(schema, 'at'))).toEqual([
    'at.x-kubernetes-list-map-keys',
    'at.x-kubernetes-list-map-keys',
  ]);
});

test('one duplicate among very many conditions is found', () => {
  const conditions = numbered((index) => ({ type: `t${String(index % (LENGTH - 1))}` }));
  expect(fieldsOf(validateFlowConditions({ status: { conditions } }))).toEqual([
    `status.conditions[${String(LENGTH - 1)}].type`,
  ]);
});

test.each([
  ['modes of access', () => validateClaimSpec({ accessModes: numbered(() => 'x'), resources: {} }, 'at')],
  [
    'aliases',
    () =>
      validateHostAliases(
        numbered(() => ({ ip: '' })),
        'at',
      ),
  ],
  ['hosts of one alias', () => validateHostAliases([{ ip: '::1', hostnames: numbered(() => '-') }], 'at')],
  [
    'volumes',
    () =>
      validateVolumes(
        numbered(() => ({ name: '' })),
        'at',
        'pod',
      ).errors,
  ],
  [
    'expressions of a selector',
    () => validateLabelSelector({ matchExpressions: numbered(() => ({})) }, 'at'),
  ],
])('validation of very many bad %s stops at the limit of reported errors', (_what, errorsOf) => {
  const { length } = errorsOf();
  expect(length).toBeGreaterThan(ERRORS_SHOWN_MAX);
  expect(length).toBeLessThan(LENGTH / 2);
});

test('rules of one list stop at the limit of reported errors', () => {
  const ports = numbered(() => ({}));
  const found = validate(serviceRules, { metadata: { name: 's' }, spec: { ports } });
  expect(found.length).toBeGreaterThan(ERRORS_SHOWN_MAX);
  expect(found.length).toBeLessThan(ERRORS_SHOWN_MAX + 10);
  expect(new Set(found.slice(0, 4))).toContain('spec.ports[0].name');
  expect(found).not.toContain('spec.type');
});

describe('a text of beginnings without an end, as long as a request, is read once', () => {
  test.each([
    ['iqn.2000-01.', false],
    ['iqn.2000-01.a:', true],
  ])('the name of a target of many %s', (piece, isEnded) => {
    const iqn = `${piece.repeat(LENGTH)}${isEnded ? ',' : ''}`;
    const errors = iscsiVolume('must be valid format')({ targetPortal: 'a', iqn, lun: 0 }, 'at');
    expect(fieldsOf(errors)).toEqual(['at.iqn']);
  });

  test('the path of a field', () => {
    const errors = validateFieldRef({ apiVersion: 'v1', fieldPath: "a['".repeat(4 * LENGTH) }, 'at', []);
    expect(fieldsOf(errors)).toEqual(['at.fieldPath']);
  });

  test('a certificate', () => {
    const certificate = Buffer.from('-----BEGIN CERTIFICATE-----\n'.repeat(LENGTH)).toString('base64');
    const signingRequest = (status: object): CertificateSigningRequest =>
      decodeObject(messageType('certificates/v1.CertificateSigningRequest'), { status }).object;
    const rules = withCertificateRules(statusSubresource);
    const errors = rules.validateUpdate?.(signingRequest({ certificate }), signingRequest({}), {
      via: { group: '', version: 'v1' },
    } as never);
    expect(fieldsOf(errors)).toEqual(['status.certificate']);
  });

  test('the certificate of a TLS Secret', () => {
    const certificate = Buffer.from('-----BEGIN CERTIFICATE-----\n'.repeat(LENGTH)).toString('base64');
    expect(keyPairProblem(certificate, certificate)).toMatch('failed to find any PEM data');
  });

  test('the path of a file in a volume', () => {
    const items = [{ key: 'k', path: `${'/'.repeat(20 * LENGTH)}a` }];
    expect(sharedPathWarnings([{ name: 'v', configMap: { name: 'c', items } }])).toEqual([]);
  });
});

describe('warnings of a large object are found in a moment, and not all of them', () => {
  test('files of volumes that hide each other', () => {
    const items = Array.from({ length: 400 }, () => ({ key: 'k', path: 'p' }));
    const volumes = Array.from({ length: 150 }, () => ({ name: 'v', configMap: { name: 'c', items } }));
    expect(sharedPathWarnings(volumes)).toHaveLength(1_000);
  });

  test('ports of one number', () => {
    const ports = numbered((index) => ({ containerPort: 80, hostPort: index + 1, protocol: 'TCP' }));
    expect(portWarnings({ containers: [{ name: 'c', ports }] } as never, 'spec')).toEqual([]);
  });

  test('addresses in another spelling', () => {
    const addresses = numbered((index) => ({ ip: `fd00:0::${index.toString(16)}` }));
    const warnings = withWarnings('core/endpoints', undefined)?.warnings;
    const object = { metadata: {}, subsets: [{ addresses }] };
    expect(warnings?.(object, undefined, {} as never)).toHaveLength(256);
  });
});
