import { byVersionPriority } from './version-priority';

test('stable versions come first, newer before older, other names last in alphabetical order', () => {
  const ordered = [
    'v10',
    'v2',
    'v1',
    'v11beta2',
    'v10beta3',
    'v3beta1',
    'v12alpha1',
    'v11alpha2',
    'foo1',
    'foo10',
    'v1gamma1',
    'v1x',
  ];
  expect(ordered.toReversed().toSorted(byVersionPriority)).toEqual(ordered);
  expect(ordered.toSorted(byVersionPriority)).toEqual(ordered);
});

test('a version equals only itself', () => {
  expect(byVersionPriority('v1', 'v1')).toBe(0);
  expect(byVersionPriority('foo', 'foo')).toBe(0);
  expect(byVersionPriority('v1beta1', 'v1alpha1')).toBeLessThan(0);
  expect(byVersionPriority('v2', 'v10')).toBeGreaterThan(0);
});
