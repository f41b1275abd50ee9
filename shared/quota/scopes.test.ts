import { GROUP } from '../names';
import { decodeObject } from '../schema/decode';
import { messageType } from '../schema/types';
import { getEvaluator } from './evaluators';
import { matchesScope, getScopes } from './scopes';

function scopesOfPod(
  spec: object,
): ReturnType<NonNullable<ReturnType<typeof getEvaluator>>['measure']>['scopes'] {
  return getEvaluator({ group: GROUP.core, resource: 'pods' })?.measure(
    decodeObject(messageType('core/v1.Pod'), { spec }).object,
  ).scopes;
}
const exists = (scopeName: string) => ({ scopeName, operator: 'Exists', values: [] });
const asking = (requests: object, limits: object = {}) => ({
  containers: [{ resources: { requests, limits } }],
});

test.each([
  [{}, false],
  [{ activeDeadlineSeconds: 0 }, true],
  [{ activeDeadlineSeconds: 10n }, true],
])('a pod %j has a deadline: %j', (spec, isTerminating) => {
  expect(matchesScope(exists('Terminating'), scopesOfPod(spec))).toBe(isTerminating);
  expect(matchesScope(exists('NotTerminating'), scopesOfPod(spec))).toBe(!isTerminating);
});

test.each([
  [asking({}), true],
  [asking({ cpu: '0' }), true],
  [asking({ 'ephemeral-storage': '1Gi' }), true],
  [asking({ cpu: '1m' }), false],
  [asking({}, { memory: '1' }), false],
  [{ containers: [{}], initContainers: [{ resources: { requests: { cpu: '1' } } }] }, false],
])('a pod %j is best-effort: %j', (spec, isBestEffort) => {
  expect(matchesScope(exists('BestEffort'), scopesOfPod(spec))).toBe(isBestEffort);
  expect(matchesScope(exists('NotBestEffort'), scopesOfPod(spec))).toBe(!isBestEffort);
});

test.each([
  ['Exists', [], true, false],
  ['DoesNotExist', [], false, true],
  ['In', ['high', 'low'], true, false],
  ['In', ['low'], false, false],
  ['NotIn', ['high'], false, true],
  ['NotIn', ['low'], true, true],
  ['Sometimes', [], false, false],
])(
  'PriorityClass %s %j holds for a pod of class high: %j, and of none: %j',
  (operator, values, ofHigh, ofNone) => {
    const requirement = { scopeName: 'PriorityClass', operator, values };
    expect(matchesScope(requirement, scopesOfPod({ priorityClassName: 'high' }))).toBe(ofHigh);
    expect(matchesScope(requirement, scopesOfPod({}))).toBe(ofNone);
  },
);

test('an alpha scope, an unknown scope and other objects match nothing', () => {
  expect(matchesScope(exists('CrossNamespacePodAffinity'), scopesOfPod({}))).toBe(false);
  expect(matchesScope(exists('Other'), scopesOfPod({}))).toBe(false);
  expect(matchesScope(exists('NotTerminating'), undefined)).toBe(false);
});

test('scopes and scopeSelector of a quota must both match', () => {
  const matchExpressions = [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }];
  const spec = { scopes: ['PriorityClass', 'BestEffort'], scopeSelector: { matchExpressions } };
  expect(getScopes({ spec })).toEqual([exists('PriorityClass'), exists('BestEffort'), ...matchExpressions]);
});

test.each([
  ['Exists', [], ['a'], true],
  ['Exists', [], [], false],
  ['In', ['b'], ['a', 'b'], true],
  ['In', ['b'], ['a'], false],
  ['NotIn', ['b'], [], true],
  ['DoesNotExist', [], ['a'], false],
])('VolumeAttributesClass %s %j of a claim with the classes %j: %j', (operator, values, names, expected) => {
  const requirement = { scopeName: 'VolumeAttributesClass', operator, values };
  expect(matchesScope(requirement, { attributesClasses: names })).toBe(expected);
  expect(matchesScope({ ...requirement, scopeName: 'PriorityClass' }, { attributesClasses: names })).toBe(
    false,
  );
  expect(matchesScope(requirement, scopesOfPod({}))).toBe(false);
});
