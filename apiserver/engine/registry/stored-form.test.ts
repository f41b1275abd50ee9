import type { ApiObject } from '../../../shared/object/object';
import { decodeEntry } from '../watch-cache/state/entry-codec';
import type { Endpoint } from './resource';
import {
  currentOfEntry,
  currentOfRecord,
  currentOfWritten,
  encodeForStorage,
  isOfEntry,
} from './stored-form';
import { createRegistry } from './registry';
import { DEFAULT_RUNTIME_CONFIG } from './runtime-config';
import { servedDefinitions } from '../../kubernetes/kinds/served';
import { DEFAULT_KIND_SETTINGS } from './strategy';

const endpoint = createRegistry(servedDefinitions(DEFAULT_RUNTIME_CONFIG, DEFAULT_KIND_SETTINGS), 1).endpoint(
  '',
  'v1',
  'configmaps',
) as Endpoint;
const { stored } = endpoint;

function configMap(value: string): ApiObject {
  return { metadata: { name: 'a', namespace: 'n', resourceVersion: '3' }, data: { x: value } };
}

test('an object is the same after a write, from the cache, and from the store', () => {
  const written = { ...encodeForStorage(stored, configMap('1')), revision: 12 };
  const current = currentOfWritten(written);
  const entry = decodeEntry(stored, { key: 'n/a', plain: written.plain, revision: 12 });
  const record = { key: '/registry/core/configmaps/n/a', value: written.plain, revision: 12 };
  expect(current.object.metadata.resourceVersion).toBe('12');
  const { isKnown, ...read } = current;
  expect(isKnown).toBe(true);
  expect(currentOfEntry(stored, entry)).toEqual(read);
  expect(currentOfRecord(stored, record)).toEqual({ ...read, stale: false });
});

test('an object matches an entry if the revision and every byte are equal', () => {
  const one = { ...encodeForStorage(stored, configMap('1')), revision: 12 };
  const entry = decodeEntry(stored, { key: 'n/a', plain: one.plain, revision: 12 });
  expect(isOfEntry(currentOfWritten(one), entry)).toBe(true);
  expect(isOfEntry(currentOfWritten({ ...one, revision: 13 }), entry)).toBe(false);
  for (const value of ['2', '', '22', 'x'.repeat(1_000)]) {
    const other = { ...encodeForStorage(stored, configMap(value)), revision: 12 };
    expect(isOfEntry(currentOfWritten(other), entry)).toBe(false);
  }
});
