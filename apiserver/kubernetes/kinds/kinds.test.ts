import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ALL_LEVELS } from '../../../shared/api-level';
import { RESOURCES, resourcesAt } from '../../../shared/api/resources';
import { KINDS } from './kinds';

const REGISTRY = path.join(__dirname, '../../engine/registry');

test('every kind of the list is one of the tables, in the group in which it is stored', () => {
  const stored = new Set(resourcesAt(ALL_LEVELS).map(({ hub, resource }) => `${hub.group}/${resource}`));
  const listed = KINDS.flatMap(({ group, kinds }) => Object.keys(kinds).map((name) => `${group}/${name}`));
  expect(listed.filter((name) => !stored.has(name))).toEqual([]);
  expect(new Set(listed).size).toBe(listed.length);
});

test('every resource of the tables is in the list', () => {
  const listed = new Set(
    KINDS.flatMap(({ group, kinds }) => Object.keys(kinds).map((name) => `${group}/${name}`)),
  );
  const missing = resourcesAt(ALL_LEVELS).filter(
    ({ hub, resource }) => !listed.has(`${hub.group}/${resource}`),
  );
  expect(missing.map(({ schema }) => schema)).toEqual([]);
});

test('the registry names no kind: what is particular to one is in its strategy', () => {
  const names = new Set(RESOURCES.flatMap(({ kind, resource }) => [kind, resource]));
  const sources = readdirSync(REGISTRY, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !/\.test\.ts$|(?:^|\/)testing\//u.test(file),
  );
  const named = sources.flatMap((file) =>
    [...readFileSync(path.join(REGISTRY, file), 'utf8').matchAll(/'([A-Za-z]+)'/gu)]
      .map(([, text = '']) => text)
      .filter((text) => names.has(text))
      .map((text) => `${file}: ${text}`),
  );
  expect(sources.length).toBeGreaterThan(20);
  expect(named).toEqual([]);
});
