import { RESOURCES } from '../../../../shared/api/resources';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid } from '../../../../shared/errors/field-error';
import type { Endpoint } from '../resource';
import type { ChangeFaults } from './told-order';
import { inToldOrder } from './told-order';

const NONE: ChangeFaults = { common: [], metadata: [], moved: [], rules: [], changes: [] };

/** One of each part, in fields that all kinds have and in one that a few of them tell elsewhere. */
const FAULTS: readonly (readonly [keyof ChangeFaults, FieldError])[] = [
  ['common', invalid('metadata.labels', 'l', 'no')],
  ['metadata', invalid('metadata.generateName', 'g', 'no')],
  ['metadata', invalid('metadata.finalizers[0]', 'f', 'no')],
  ['moved', invalid('metadata.uid', 'u', 'no')],
  ['rules', invalid('spec.a', 'r', 'no')],
  ['changes', invalid('spec.b', 'c', 'no')],
];

const PLACES = RESOURCES.flatMap((row) =>
  ['', ...row.subresources.map(({ name }) => name)].map((subresource) => ({ row, subresource })),
).map(({ row, subresource }) => [`${row.group}/${row.version}/${row.resource}`, subresource, row] as const);

describe.each(FAULTS)('what is wrong by the part "%s"', (part, fault) => {
  test.each(PLACES)('is told of %s, subresource "%s"', (_title, subresource, row) => {
    const endpoint = { row, stored: { resource: row.resource } } as unknown as Endpoint;
    const told = inToldOrder({ ...NONE, [part]: [fault] }, endpoint, subresource);
    expect(told === undefined || told.includes(fault)).toBe(true);
  });
});

test('what is found twice is told as often as the order says, and not once more', () => {
  const endpoint = {
    row: { group: '' },
    stored: { resource: 'replicationcontrollers' },
  } as unknown as Endpoint;
  const [rule, change] = [invalid('spec.a', 'r', 'no'), invalid('spec.b', 'c', 'no')];
  const told = inToldOrder({ ...NONE, rules: [rule], changes: [change] }, endpoint, '');
  expect(told).toEqual([rule, rule, change]);
});

test.each([
  ['storageversions', '', 2],
  ['storageversions', 'status', 2],
  ['deployments', 'status', 3],
])(
  'a label that a change of %s, subresource "%s", has wrong is told %d times',
  (resource, subresource, times) => {
    const endpoint = { row: { group: '' }, stored: { resource } } as unknown as Endpoint;
    const label = invalid('metadata.labels', 'l', 'no');
    const told = inToldOrder({ ...NONE, common: [label] }, endpoint, subresource);
    expect(told).toEqual(Array.from({ length: times }, () => label));
  },
);

test('a fault of metadata that is in no step of the order comes last', () => {
  const endpoint = { row: { group: 'batch' }, stored: { resource: 'cronjobs' } } as unknown as Endpoint;
  const name = invalid('metadata.generateName', 'g', 'no');
  const label = invalid('metadata.labels', 'l', 'no');
  const change = invalid('spec.b', 'c', 'no');
  const faults: ChangeFaults = {
    ...NONE,
    common: [label],
    metadata: [{ ...label }, name],
    changes: [change],
  };
  expect(inToldOrder(faults, endpoint, 'status')).toEqual([label, label, change, name]);
});
