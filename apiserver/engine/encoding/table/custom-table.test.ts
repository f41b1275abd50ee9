import { GROUP } from '../../../../shared/names';
import { eventually } from '../../../../shared/testing/eventually';
import type { InProcessApi } from '../../../testing/in-process-api';
import { startInProcessApi } from '../../../testing/in-process-api';
import { rowsMade } from './table-shape';

const DEFINITIONS = `/apis/${GROUP.apiextensions}/v1/customresourcedefinitions`;
const NAME = `${DEFINITIONS}/things.example.com`;
const TABLE = `application/json;as=Table;v=v1;g=${GROUP.meta}`;

let api: InProcessApi;
beforeEach(async () => {
  api = await startInProcessApi();
});
afterEach(async () => api.close());

const SCHEMA = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer', default: 7 },
        note: { type: 'string' },
        old: { type: 'string' },
      },
    },
  },
};

function version(name: string, columns: readonly object[], more: object = {}): object {
  return {
    name,
    served: true,
    storage: name === 'v1',
    schema: { openAPIV3Schema: SCHEMA },
    additionalPrinterColumns: columns,
    ...more,
  };
}

const SIZE = { name: 'Size', type: 'integer', jsonPath: '.spec.size', description: 'How large it is.' };
const NOTE = { name: 'Note', type: 'string', jsonPath: '.spec.note', priority: 1 };
const OLD = { name: 'Old', type: 'string', jsonPath: '.spec.old' };
const VERSION = { name: 'Version', type: 'string', jsonPath: '.apiVersion' };

async function define(versions: readonly object[]): Promise<void> {
  const names = { plural: 'things', kind: 'Thing' };
  const spec = { group: 'example.com', scope: 'Cluster', names, versions };
  const body = { metadata: { name: 'things.example.com' }, spec };
  expect(await api.call('POST', DEFINITIONS, { body })).toMatchObject({ code: 201 });
  await eventually(
    'the definition is served',
    async () => (await api.call('GET', '/apis/example.com/v1/things')).code === 200,
  );
}

async function create(name: string, spec: object): Promise<void> {
  const body = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name }, spec };
  expect(await api.call('POST', '/apis/example.com/v1/things', { body })).toMatchObject({ code: 201 });
}

interface Shown {
  readonly columns: readonly string[];
  readonly cells: readonly (readonly unknown[])[];
}

async function table(path: string): Promise<Shown> {
  const { code, json } = await api.call('GET', path, { headers: { accept: TABLE } });
  expect({ path, code, kind: json.kind }).toEqual({ path, code: 200, kind: 'Table' });
  return {
    columns: json.columnDefinitions.map(({ name }: { name: string }) => name),
    cells: json.rows.map(({ cells }: { cells: unknown[] }) => cells),
  };
}

test('every version has its own columns, and reads the object in its own form', async () => {
  await define([version('v1', [SIZE, NOTE]), version('v1beta1', [OLD, VERSION])]);
  await create('a', { note: 'x', old: 'y' });
  await create('b', { size: 2 });
  expect(await table('/apis/example.com/v1/things')).toEqual({
    columns: ['Name', 'Size', 'Note'],
    cells: [
      ['a', 7, 'x'],
      ['b', 2, null],
    ],
  });
  expect(await table('/apis/example.com/v1beta1/things')).toEqual({
    columns: ['Name', 'Old', 'Version'],
    cells: [
      ['a', 'y', 'example.com/v1beta1'],
      ['b', null, 'example.com/v1beta1'],
    ],
  });
  expect((await table('/apis/example.com/v1beta1/things/a')).cells).toEqual([
    ['a', 'y', 'example.com/v1beta1'],
  ]);
});

test('a column says what it is about, and whether it is for wide output', async () => {
  await define([version('v1', [SIZE, NOTE])]);
  const { json } = await api.call('GET', '/apis/example.com/v1/things', { headers: { accept: TABLE } });
  expect(json.columnDefinitions).toEqual([
    {
      name: 'Name',
      type: 'string',
      format: 'name',
      priority: 0,
      description: expect.stringContaining('Name'),
    },
    { name: 'Size', type: 'integer', format: '', priority: 0, description: 'How large it is.' },
    {
      name: 'Note',
      type: 'string',
      format: '',
      priority: 1,
      description: expect.stringContaining('.spec.note'),
    },
  ]);
});

test('without columns of its own it shows the age', async () => {
  await define([version('v1', [])]);
  await create('a', {});
  expect(await table('/apis/example.com/v1/things')).toEqual({
    columns: ['Name', 'Age'],
    cells: [['a', expect.stringMatching(/^\d+s$/)]],
  });
});

test('rows are made once, and again when the definition has other columns', async () => {
  await define([version('v1', [SIZE])]);
  await create('a', { note: 'x' });
  const before = rowsMade();
  await table('/apis/example.com/v1/things');
  await table('/apis/example.com/v1/things/a');
  await table('/apis/example.com/v1/things');
  expect(rowsMade() - before).toBe(1);
  const body = { spec: { versions: [version('v1', [NOTE])] } };
  expect(await api.call('PATCH', NAME, { body })).toMatchObject({ code: 200 });
  expect(await table('/apis/example.com/v1/things')).toEqual({
    columns: ['Name', 'Note'],
    cells: [['a', 'x']],
  });
  expect(rowsMade() - before).toBe(2);
});

test('a watch tells its columns once, and then a row for every change', async () => {
  await define([version('v1', [SIZE])]);
  const shutdown = new AbortController();
  const url = `/apis/example.com/v1/things?watch=1&resourceVersion=0`;
  const reply = api.watch(url, shutdown.signal, { accept: TABLE });
  const first = reply.next();
  await create('a', {});
  expect((await first).value).toMatchObject({
    type: 'ADDED',
    object: {
      kind: 'Table',
      columnDefinitions: [{ name: 'Name' }, { name: 'Size' }],
      rows: [{ cells: ['a', 7], object: { kind: 'PartialObjectMetadata', metadata: { name: 'a' } } }],
    },
  });
  await api.call('PATCH', '/apis/example.com/v1/things/a', { body: { spec: { size: 8 } } });
  expect((await reply.next()).value).toMatchObject({
    type: 'MODIFIED',
    object: { columnDefinitions: null, rows: [{ cells: ['a', 8] }] },
  });
  shutdown.abort();
});

test('a row carries its object, its metadata or nothing', async () => {
  await define([version('v1', [SIZE])]);
  await create('a', { note: 'x' });
  const rowOf = async (query: string): Promise<unknown> =>
    (await api.call('GET', `/apis/example.com/v1/things${query}`, { headers: { accept: TABLE } })).json
      .rows[0];
  expect(await rowOf('?includeObject=None')).toEqual({ cells: ['a', 7], object: null });
  expect(await rowOf('?includeObject=Object')).toMatchObject({
    object: { kind: 'Thing', apiVersion: 'example.com/v1', spec: { size: 7, note: 'x' } },
  });
  expect(await rowOf('')).toMatchObject({ object: { kind: 'PartialObjectMetadata' } });
});

test('what a dry run would make is shown in the same columns', async () => {
  await define([version('v1', [SIZE])]);
  const body = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' }, spec: { size: 3 } };
  const made = await api.call('POST', '/apis/example.com/v1/things?dryRun=All', {
    body,
    headers: { accept: TABLE },
  });
  expect(made.json).toMatchObject({ kind: 'Table', rows: [{ cells: ['a', 3] }] });
});
