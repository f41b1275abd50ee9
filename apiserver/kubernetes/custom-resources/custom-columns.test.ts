import type { ApiObject } from '../../../shared/object/object';
import type { Cell } from '../../engine/registry/object-table';
import { Age } from '../../engine/registry/object-table';
import { COLUMN_PATHS_CHARS_MAX, customColumns, customRow } from './custom-columns';

const NOW = Date.parse('2026-01-02T12:00:00Z');

function cellsAt(row: readonly Cell[], now: number): readonly unknown[] {
  return row.map((each) => (each instanceof Age ? each.text(now) : each));
}

function cell(type: string, jsonPath: string, spec: object): unknown {
  const columns = customColumns({ additionalPrinterColumns: [{ name: 'X', type, jsonPath }] });
  const object = { metadata: { name: 'a', creationTimestamp: '2026-01-02T11:59:00Z' }, spec };
  const [name, value, ...more] = cellsAt(customRow(columns)(object), NOW);
  expect([name, more]).toEqual(['a', []]);
  return value;
}

test.each([
  ['integer', 42, 42],
  ['integer', 9_007_199_254_740_993n, 9_007_199_254_740_993n],
  ['integer', 3.99, 3],
  ['integer', -3.99, -3],
  ['integer', -0.5, 0],
  ['integer', 2 ** 60, 2n ** 60n],
  ['integer', 1e19, -(2n ** 63n)],
  ['integer', '42', null],
  ['integer', true, null],
  ['number', 42, 42],
  ['number', 3.5, 3.5],
  ['number', 9_007_199_254_740_993n, 9_007_199_254_740_992],
  ['number', '42', null],
  ['boolean', true, true],
  ['boolean', false, false],
  ['boolean', 'true', null],
  ['boolean', 0, null],
  ['date', '2026-01-02T00:00:00Z', '12h'],
  ['date', '2026-01-02T01:00:00.5+01:00', '11h'],
  ['date', '2026-01-03T00:00:00Z', '<invalid>'],
  ['date', 'yesterday', '<invalid>'],
  ['date', '', '<unknown>'],
  ['date', 'null', '<unknown>'],
  ['date', '0001-01-01T00:00:00Z', '<unknown>'],
  ['date', 1, null],
  ['string', 'text', 'text'],
  ['string', '', ''],
  ['string', 42, '42'],
  ['string', true, 'true'],
  ['string', { b: [1], a: 'x' }, '{"a":"x","b":[1]}'],
  ['string', null, '<no value>'],
  ['integer', null, null],
  ['integer', [1], null],
])('in a column of the type %s, %p is %p', (type, value, expected) => {
  expect(cell(type, '.spec.x', { x: value })).toEqual(expected);
});

test.each(['integer', 'number', 'boolean', 'date', 'string'])(
  'in a column of the type %s, a missing value is null',
  (type) => {
    expect(cell(type, '.spec.x', {})).toBeNull();
    expect(cell(type, '.status.x', {})).toBeNull();
    expect(cell(type, '.spec.list[2]', { list: ['a'] })).toBeNull();
  },
);

test('the first of several values is shown', () => {
  const servers = [{ hosts: ['a', 'b'] }, { hosts: ['c'] }];
  expect(cell('string', '.spec.servers[*].hosts', { servers })).toBe('["a","b"]');
  expect(cell('string', '.spec.servers[*].hosts[*]', { servers })).toBe('a');
});

test('paths support filters of list items and keys with dots', () => {
  const conditions = [
    { type: 'Synced', status: 'False' },
    { type: 'Ready', status: 'True' },
  ];
  expect(cell('string', '.spec.conditions[?(@.type=="Ready")].status', { conditions })).toBe('True');
  expect(cell('string', '.spec.conditions[?(@.type=="Gone")].status', { conditions })).toBeNull();
  expect(cell('string', String.raw`.spec.labels.example\.com/a`, { labels: { 'example.com/a': 'x' } })).toBe(
    'x',
  );
});

test('thousands of columns share one limit on the printed size of a large object', () => {
  const columns = customColumns({
    additionalPrinterColumns: Array.from({ length: 2_000 }, () => ({
      name: 'A',
      type: 'string',
      jsonPath: '.spec',
    })),
  });
  const spec = { text: 'x'.repeat(1_000_000) };
  const object = { metadata: { name: 'a' }, spec } as unknown as ApiObject;
  const row = customRow(columns)(object);
  expect(row[1]).toBe(JSON.stringify(spec));
  expect(row.filter((each) => each !== null).length).toBeLessThan(20);
  expect(row).toHaveLength(2_001);
});

test('a definition without columns shows the age', () => {
  for (const version of [{}, { additionalPrinterColumns: [] }]) {
    const columns = customColumns(version);
    expect(columns).toMatchObject([{ name: 'Age', type: 'date', format: '', priority: 0 }]);
    const object = { metadata: { name: 'a', creationTimestamp: '2026-01-02T11:59:00Z' } } as ApiObject;
    expect(cellsAt(customRow(columns)(object), NOW)).toEqual(['a', '60s']);
  }
});

test('a column has the fields of the definition, and its JSON path as the default description', () => {
  const columns = customColumns({
    additionalPrinterColumns: [
      { name: 'A', type: 'number', jsonPath: '.spec.a', format: 'double', priority: 1, description: 'text' },
      { name: 'B', type: 'string', jsonPath: '.spec.b' },
    ],
  });
  expect(columns).toEqual([
    { name: 'A', type: 'number', jsonPath: '.spec.a', format: 'double', priority: 1, description: 'text' },
    {
      name: 'B',
      type: 'string',
      jsonPath: '.spec.b',
      format: '',
      priority: 0,
      description: expect.stringContaining('.spec.b'),
    },
  ]);
});

test('the first unsupported path ends the columns', () => {
  const paths = ['.spec.a', '.spec[', '.spec.b'];
  const additionalPrinterColumns = paths.map((jsonPath) => ({ name: jsonPath, type: 'string', jsonPath }));
  expect(customColumns({ additionalPrinterColumns }).map(({ name }) => name)).toEqual(['.spec.a']);
  expect(customColumns({ additionalPrinterColumns: additionalPrinterColumns.slice(1) })).toEqual([]);
});

test('columns end where the total length of their paths exceeds the limit', () => {
  const jsonPath = `.${'a'.repeat(1_023)}`;
  const additionalPrinterColumns = Array.from({ length: 100 }, () => ({
    name: 'X',
    type: 'string',
    jsonPath,
  }));
  const columns = customColumns({ additionalPrinterColumns });
  expect(columns).toHaveLength(COLUMN_PATHS_CHARS_MAX / jsonPath.length);
});
