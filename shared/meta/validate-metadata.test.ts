import type { FieldError } from '../errors/field-error';
import { ERRORS_SHOWN_MAX } from '../errors/field-error';
import { FINALIZER } from '../names';
import { subdomainName } from './name-rules';
import type { ObjectMeta, OwnerReference } from '../object/object';
import {
  ANNOTATIONS_BYTES_MAX,
  validateAnnotations,
  validateLabels,
  validateLabelSelector,
} from './validate-labels';
import {
  validateFieldManager,
  validateFinalizerName,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from './validate-metadata';

const RULES = { namespaced: true, validateName: subdomainName, path: 'metadata' };
const MANY = 20_000;
const GOOD: ObjectMeta = { name: 'a', namespace: 'n' };
const owner = { apiVersion: 'v1', kind: 'Pod', name: 'o', uid: 'u' };

/** Formats errors as `Required:name`. */
function brief(errors: readonly FieldError[]): string[] {
  return errors.map(({ reason, field }) => `${reason.replace('FieldValue', '')}:${field}`);
}

test.each<[string, ObjectMeta]>([
  ['a name and a namespace', GOOD],
  ['a generated name beside its prefix', { ...GOOD, generateName: 'a-' }],
  ['labels, also an empty value', { ...GOOD, labels: { a: 'b', 'example.com/A_b': '' } }],
  ['annotations with any text and any case', { ...GOOD, annotations: { 'UP/A_b': 'é\n' } }],
  ['256 KiB of annotations', { ...GOOD, annotations: { a: 'x'.repeat(256 * 1024 - 1) } }],
  ['the same owner twice', { ...GOOD, ownerReferences: [owner, owner] }],
  [
    'one controller',
    {
      ...GOOD,
      ownerReferences: [
        { ...owner, controller: true },
        { ...owner, controller: false },
      ],
    },
  ],
  ['an owner of another group', { ...GOOD, ownerReferences: [{ ...owner, apiVersion: 'apps/v1' }] }],
  ['finalizers with a domain, also twice', { ...GOOD, finalizers: ['x.io/a', 'x.io/a'] }],
  ['a standard finalizer', { ...GOOD, finalizers: [FINALIZER.orphan, FINALIZER.namespaceContent] }],
  [
    'managed fields',
    { ...GOOD, managedFields: [{ manager: 'm', operation: 'Apply', fieldsType: 'FieldsV1' }] },
  ],
  ['generation 0', { ...GOOD, generation: 0 }],
])('metadata may have %s', (_what, meta) => {
  expect(validateObjectMeta(meta, RULES)).toEqual([]);
});

test.each<[string, ObjectMeta, string[]]>([
  ['no name', { namespace: 'n' }, ['Required:metadata.name']],
  ['an empty name', { namespace: 'n', name: '' }, ['Required:metadata.name']],
  ['a bad name', { ...GOOD, name: 'A' }, ['Invalid:metadata.name']],
  ['a bad prefix', { ...GOOD, generateName: 'A' }, ['Invalid:metadata.generateName']],
  ['no namespace', { name: 'a' }, ['Required:metadata.namespace']],
  ['a bad namespace', { name: 'a', namespace: 'a.b' }, ['Invalid:metadata.namespace']],
  ['a negative generation', { ...GOOD, generation: -1 }, ['Invalid:metadata.generation']],
  ['a bad cluster name', { ...GOOD, clusterName: 'A' }, ['Invalid:metadata.clusterName']],
  [
    'a bad label',
    { ...GOOD, labels: { '-a': '-b' } },
    ['Invalid:metadata.labels', 'Invalid:metadata.labels'],
  ],
  ['a bad annotation', { ...GOOD, annotations: { 'a b': '' } }, ['Invalid:metadata.annotations']],
  [
    'too long annotations',
    { ...GOOD, annotations: { a: 'x'.repeat(256 * 1024) } },
    ['TooLong:metadata.annotations'],
  ],
  [
    'an owner without a version',
    { ...GOOD, ownerReferences: [{ ...owner, apiVersion: '' }] },
    ['Invalid:metadata.ownerReferences.apiVersion'],
  ],
  [
    'an owner with a version in three parts',
    { ...GOOD, ownerReferences: [{ ...owner, apiVersion: 'a/b/c' }] },
    ['Invalid:metadata.ownerReferences.apiVersion'],
  ],
  [
    'an owner with nothing else',
    { ...GOOD, ownerReferences: [{ ...owner, kind: '', name: '', uid: '' }] },
    [
      'Invalid:metadata.ownerReferences.kind',
      'Invalid:metadata.ownerReferences.name',
      'Invalid:metadata.ownerReferences.uid',
    ],
  ],
  [
    'an Event as owner',
    { ...GOOD, ownerReferences: [{ ...owner, kind: 'Event' }] },
    ['Invalid:metadata.ownerReferences'],
  ],
  [
    'a finalizer without a domain',
    { ...GOOD, finalizers: ['x.io/a', 'a'] },
    ['Invalid:metadata.finalizers[1]'],
  ],
  ['a finalizer with a bad domain', { ...GOOD, finalizers: ['-a/b'] }, ['Invalid:metadata.finalizers']],
  [
    'an empty finalizer',
    { ...GOOD, finalizers: [''] },
    ['Invalid:metadata.finalizers', 'Invalid:metadata.finalizers', 'Invalid:metadata.finalizers[0]'],
  ],
  [
    'both ways of deletion',
    { ...GOOD, finalizers: [FINALIZER.orphan, FINALIZER.foregroundDeletion] },
    ['Invalid:metadata.finalizers'],
  ],
  [
    'bad managed fields',
    { ...GOOD, managedFields: [{ manager: '\u0007', operation: 'Delete', fieldsType: 'V9' }] },
    [
      'Invalid:metadata.managedFields[0].operation',
      'Invalid:metadata.managedFields[0].fieldsType',
      'Invalid:metadata.managedFields[0].manager',
    ],
  ],
])('metadata with %s is refused', (_what, meta, errors) => {
  expect(brief(validateObjectMeta(meta, RULES))).toEqual(errors);
});

test('all errors are reported at once', () => {
  const errors = validateObjectMeta({ name: 'A', labels: { '-': 'x' }, finalizers: ['y'] }, RULES);
  expect(brief(errors)).toEqual([
    'Invalid:metadata.name',
    'Required:metadata.namespace',
    'Invalid:metadata.labels',
    'Invalid:metadata.finalizers[0]',
  ]);
});

test('a cluster-scoped object has no namespace', () => {
  expect(brief(validateObjectMeta(GOOD, { ...RULES, namespaced: false }))).toEqual([
    'Forbidden:metadata.namespace',
  ]);
  expect(validateObjectMeta({ name: 'a' }, { ...RULES, namespaced: false })).toEqual([]);
});

test('only one owner may be the controller, and the message names both', () => {
  const references = ['o', 'p', 'q'].map((name) => ({ ...owner, name, controller: true }));
  const messages = validateObjectMeta({ ...GOOD, ownerReferences: references }, RULES).map(
    ({ message }) => message,
  );
  expect(messages).toEqual([
    expect.stringContaining('Found "true" in references for o and p'),
    expect.stringContaining('Found "true" in references for o and q'),
  ]);
});

test('finalizers of a custom resource need no domain', () => {
  expect(validateObjectMeta({ ...GOOD, finalizers: ['a'] }, { ...RULES, freeFinalizers: true })).toEqual([]);
});

test('a long value is not repeated in the response', () => {
  const [error] = validateObjectMeta({ ...GOOD, annotations: { a: 'x'.repeat(300_000) } }, RULES);
  expect(error?.message).toBe('Too long: must have at most 262144 bytes');
});

describe('on update', () => {
  const previous: ObjectMeta = {
    ...GOOD,
    uid: 'u',
    resourceVersion: '5',
    generation: 3,
    creationTimestamp: '2024-01-01T00:00:00Z',
  };

  test.each<[string, Partial<ObjectMeta>]>([
    ['nothing changes', {}],
    ['the generation grows', { generation: 4 }],
    ['labels and finalizers come', { labels: { a: 'b' }, finalizers: ['x.io/a'] }],
    ['the time is written in another zone', { creationTimestamp: '2024-01-01T01:00:00+01:00' }],
  ])('a valid update: %s', (_what, change) => {
    expect(validateObjectMetaUpdate({ ...previous, ...change }, previous, 'metadata')).toEqual([]);
  });

  test.each<[Partial<ObjectMeta>, string]>([
    [{ name: 'b' }, 'name'],
    [{ namespace: 'm' }, 'namespace'],
    [{ uid: 'v' }, 'uid'],
    [{ creationTimestamp: null }, 'creationTimestamp'],
    [{ creationTimestamp: '2024-01-01T00:00:01Z' }, 'creationTimestamp'],
    [{ deletionTimestamp: '2024-01-01T00:00:00Z' }, 'deletionTimestamp'],
    [{ deletionGracePeriodSeconds: 0 }, 'deletionGracePeriodSeconds'],
    [{ clusterName: 'c' }, 'clusterName'],
    [{ generation: 2 }, 'generation'],
    [{ resourceVersion: '' }, 'resourceVersion'],
  ])('%j is refused', (change, field) => {
    const errors = validateObjectMetaUpdate({ ...previous, ...change }, previous, 'metadata');
    expect(brief(errors)).toEqual([`Invalid:metadata.${field}`]);
  });

  test('an object that is being deleted may lose a finalizer and gain none', () => {
    const dying = {
      ...previous,
      deletionTimestamp: '2024-01-02T00:00:00Z',
      finalizers: ['x.io/a', 'x.io/b'],
    };
    expect(validateObjectMetaUpdate({ ...dying, finalizers: ['x.io/b'] }, dying, 'metadata')).toEqual([]);
    const errors = validateObjectMetaUpdate(
      { ...dying, finalizers: ['x.io/d', 'x.io/c', 'x.io/a'] },
      dying,
      'metadata',
    );
    expect(errors).toEqual([
      {
        reason: 'FieldValueForbidden',
        field: 'metadata.finalizers',
        message:
          'Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x.io/c", "x.io/d"}',
      },
    ]);
  });
});

test.each([
  ['a', []],
  ['', []],
  ['m'.repeat(129), ['TooLong:f']],
  ['a\tb\u200b', ['Invalid:f', 'Invalid:f']],
])('field manager %j: %j', (manager, errors) => {
  expect(brief(validateFieldManager(manager, 'f'))).toEqual(errors);
});

test('a long field manager reports only its first bad characters', () => {
  const errors = validateFieldManager('\u007f'.repeat(MANY), 'f');
  expect(brief(errors)).toEqual(['TooLong:f', ...Array<string>(8).fill('Invalid:f')]);
});

test('the position of a non-printable character counts bytes', () => {
  expect(validateFieldManager('é\t', 'f')[0]?.message).toContain('invalid character U+0009 (at position 2)');
});

test.each([
  [FINALIZER.namespaceContent, 0],
  ['x.io/a', 0],
  ['a', 1],
  ['a b', 2],
])('%j as the finalizer of a namespace has %d problems', (finalizer, count) => {
  expect(validateFinalizerName(finalizer, 'spec.finalizers[0]')).toHaveLength(count);
});

test('validation of many bad keys stops at the limit, and the total size is still checked', () => {
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`-${String(at)}`, '-']));
  expect(validateLabels(many, 'l').length).toBeLessThan(ERRORS_SHOWN_MAX + 10);
  const large = { ...many, a: 'x'.repeat(ANNOTATIONS_BYTES_MAX) };
  const errors = validateAnnotations(large, 'a');
  expect(errors.length).toBeLessThan(ERRORS_SHOWN_MAX + 10);
  expect(errors.some(({ reason }) => reason === 'FieldValueTooLong')).toBe(true);
});

test.each([
  ['finalizers', { finalizers: Array.from({ length: MANY }, (_, index) => `bad ${String(index)}`) }],
  ['owners', { ownerReferences: Array.from({ length: MANY }, () => ({}) as OwnerReference) }],
  ['managed fields', { managedFields: Array.from({ length: MANY }, () => ({})) }],
])('validation of many bad %s stops at the limit', (_what, bad) => {
  const { length } = validateObjectMeta({ ...GOOD, ...bad }, RULES);
  expect(length).toBeGreaterThan(ERRORS_SHOWN_MAX);
  expect(length).toBeLessThan(3 * ERRORS_SHOWN_MAX);
});

test('each expression of a label selector is validated', () => {
  const selector = {
    matchLabels: { a: '-' },
    matchExpressions: [
      { key: 'a', operator: 'In', values: ['x'] },
      { key: 'a', operator: 'In' },
      { key: 'a', operator: 'Exists', values: ['x'] },
      { key: '-', operator: 'Near' },
    ],
  };
  expect(brief(validateLabelSelector(selector, 's'))).toEqual([
    'Invalid:s.matchLabels',
    'Required:s.matchExpressions[1].values',
    'Forbidden:s.matchExpressions[2].values',
    'Invalid:s.matchExpressions[3].operator',
    'Invalid:s.matchExpressions[3].key',
  ]);
  expect(validateLabelSelector(undefined, 's')).toEqual([]);
});

test('a controller reference without a name conflicts with no other', () => {
  const references = [
    { apiVersion: 'v1', kind: 'Pod', name: '', uid: 'u', controller: true },
    { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'v', controller: true },
  ];
  const rules = { namespaced: false, validateName: subdomainName, path: 'metadata' };
  const errors = validateObjectMeta({ name: 'a', ownerReferences: references }, rules);
  expect(errors.map(({ field }) => field)).toEqual(['metadata.ownerReferences.name']);
});

test('the message for thousands of controllers is bounded', () => {
  const ownerReferences = Array.from({ length: 20_000 }, (_, at) => ({
    ...owner,
    name: `o${String(at)}`,
    controller: true,
  }));
  const errors = validateObjectMeta({ ...GOOD, ownerReferences }, RULES);
  expect(errors.length).toBeGreaterThan(0);
  expect(errors.reduce((sum, { message }) => sum + message.length, 0)).toBeLessThan(50_000_000);
});
