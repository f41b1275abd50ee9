import { GROUPS } from '../../../shared/api/groups';
import { GROUP } from '../../../shared/names';
import type { Registry, ServedGroup } from '../../engine/registry/registry';
import { orderedGroups } from './group-order';

const BUILT_IN: readonly ServedGroup[] = GROUPS.map(({ group, versions }) => ({
  group,
  versions: versions.map(({ version }) => version),
}));

function ordered(groups: readonly ServedGroup[]): readonly ServedGroup[] {
  return orderedGroups({ groups } as Registry);
}

test('built-in groups are in the order of the tables, regardless of the input order', () => {
  const [core, ...others] = ordered(
    BUILT_IN.toReversed().map(({ group, versions }) => ({ group, versions: versions.toReversed() })),
  ).toSorted((a, b) => Number(b.group === '') - Number(a.group === ''));
  expect(core?.group).toBe('');
  expect([core, ...others]).toEqual(BUILT_IN);
});

test('groups of custom resources come last, in the order of their APIServices, and their versions by name', () => {
  const custom = [
    { group: 'a.example.com', versions: ['v1beta1', 'v2'] },
    { group: 'b.example.com', versions: ['v1alpha1', 'v1', 'v1beta2', 'other', 'v10'] },
    { group: 'c.example.com', versions: ['v1'] },
    { group: 'd.example.com', versions: ['other'] },
  ];
  const all = ordered([...custom, ...BUILT_IN]);
  expect(all.slice(BUILT_IN.length)).toEqual([
    { group: 'b.example.com', versions: ['v10', 'v1', 'v1beta2', 'v1alpha1', 'other'] },
    { group: 'd.example.com', versions: ['other'] },
    { group: 'c.example.com', versions: ['v1'] },
    { group: 'a.example.com', versions: ['v2', 'v1beta1'] },
  ]);
});

test('a further version of a built-in group is the preferred one and does not move the group', () => {
  const groups = BUILT_IN.map((each) =>
    each.group === GROUP.networking ? { ...each, versions: [...each.versions, 'v1alpha1'] } : each,
  );
  const before = ordered(BUILT_IN).map(({ group }) => group);
  const all = ordered(groups);
  expect(all.map(({ group }) => group)).toEqual(before);
  expect(all.find(({ group }) => group === GROUP.networking)?.versions).toEqual([
    'v1alpha1',
    'v1',
    'v1beta1',
  ]);
});
