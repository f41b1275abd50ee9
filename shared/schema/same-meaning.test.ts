import { isSemanticallyEqual } from './same-meaning';
import { messageType } from './types';

const POD = messageType('core/v1.PodSpec');

const pod = (memory: string, rest: object = {}): object => ({
  containers: [{ name: 'c', resources: { limits: { cpu: '1', memory } } }],
  volumes: [{ name: 'v', emptyDir: { sizeLimit: memory } }],
  ...rest,
});

test.each([
  ['the same text', pod('1Gi'), pod('1Gi'), true],
  ['another unit', pod('1Gi'), pod('1073741824'), true],
  ['an exponent', pod('1k'), pod('1e3'), true],
  ['another amount', pod('1Gi'), pod('1G'), false],
  ['something else beside the unit', pod('1k'), pod('1e3', { hostname: 'h' }), false],
  ['a further field', pod('1k'), { ...pod('1e3'), hostNetwork: true }, false],
  ['the amounts of a map', { overhead: { cpu: '1k' } }, { overhead: { cpu: '1e3' } }, true],
  ['a map of other keys', { overhead: { cpu: '1k' } }, { overhead: { memory: '1k' } }, false],
  ['a map of fewer keys', { overhead: { cpu: '1k', memory: '1' } }, { overhead: { cpu: '1e3' } }, false],
  ['a list of another length', { containers: [{ name: 'a' }] }, { containers: [] }, false],
  ['text that looks like an amount', { hostname: '1k' }, { hostname: '1e3' }, false],
  ['labels that do', { nodeSelector: { a: '1k' } }, { nodeSelector: { a: '1e3' } }, false],
  ['what no field says', { other: '1k' }, { other: '1e3' }, false],
])('%s', (_what, a, b, same) => {
  expect(isSemanticallyEqual(POD, a, b)).toBe(same);
  expect(isSemanticallyEqual(POD, b, a)).toBe(same);
});
