import type { Definition, DefinitionNames } from './definition';
import { isNamed, nameWithin, waitsForNames } from './naming';

const NO_NAMES: DefinitionNames = {
  plural: '',
  singular: '',
  kind: '',
  listKind: '',
  shortNames: [],
  categories: [],
};

const names = (plural: string, more: Partial<DefinitionNames> = {}): DefinitionNames => ({
  plural,
  singular: plural.slice(0, -1),
  kind: plural.slice(0, -1).toUpperCase(),
  listKind: `${plural.slice(0, -1).toUpperCase()}List`,
  shortNames: [],
  categories: [],
  ...more,
});

const definition = (
  revision: number,
  wantedNames: DefinitionNames,
  acceptedNames: DefinitionNames = NO_NAMES,
): Definition => ({
  name: `${wantedNames.plural}.example.com`,
  uid: 'u',
  revision,
  group: 'example.com',
  isNamespaced: true,
  preservesUnknownFields: false,
  convertsByWebhook: false,
  versions: [],
  wantedNames,
  acceptedNames,
  namesAccepted: undefined,
  conditionsKey: '',
  isEstablished: false,
  isTerminating: false,
  awaitsCleanup: false,
  fingerprint: '',
});

test('a definition gets all names that no other definition has', () => {
  const own = definition(1, names('foos', { shortNames: ['f'] }));
  expect(nameWithin(own, [own])).toEqual({
    acceptedNames: own.wantedNames,
    namesAccepted: {
      type: 'NamesAccepted',
      status: 'True',
      reason: 'NoConflicts',
      message: 'no conflicts found',
    },
  });
});

test('names of another definition are rejected, the remaining names are accepted', () => {
  const other = definition(1, names('foos', { shortNames: ['f'] }), names('foos', { shortNames: ['f'] }));
  const own = definition(2, names('bars', { kind: 'FOO', shortNames: ['b', 'f'] }));
  const { acceptedNames, namesAccepted } = nameWithin(own, [other, own]);
  expect(acceptedNames).toEqual({ ...names('bars'), kind: '' });
  expect(namesAccepted).toMatchObject({
    status: 'False',
    reason: 'KindConflict',
    message: '"FOO" is already in use',
  });
});

test('the message reports the last conflict, and all conflicting short names', () => {
  const other = definition(
    1,
    names('foos', { shortNames: ['x', 'y'] }),
    names('foos', { shortNames: ['x', 'y'] }),
  );
  const own = definition(2, names('bars', { singular: 'foo', shortNames: ['x', 'y', 'z'] }));
  expect(nameWithin(own, [other, own]).namesAccepted).toMatchObject({
    reason: 'ShortNamesConflict',
    message: '["x" is already in use, "y" is already in use]',
  });
});

test('a kind may equal the name of a resource, but a list kind may not equal a kind', () => {
  const other = definition(1, names('foos'), names('foos'));
  const own = definition(2, names('bars', { kind: 'foo', listKind: 'FOO' }));
  expect(nameWithin(own, [other, own]).namesAccepted.reason).toBe('ListKindConflict');
});

test('accepted names are kept when the wanted names change later', () => {
  const other = definition(1, names('foos'), names('foos'));
  const own = definition(2, names('bars', { singular: 'foo' }), names('bars'));
  expect(nameWithin(own, [other, own]).acceptedNames.singular).toBe('bar');
});

test('the older of two definitions that want the same name gets it, in any order of evaluation', () => {
  const first = definition(5, names('foos', { kind: 'Same' }));
  const second = definition(6, names('bars', { kind: 'Same' }));
  const group = [second, first];
  expect(nameWithin(first, group).acceptedNames.kind).toBe('Same');
  expect(nameWithin(second, group).namesAccepted.reason).toBe('KindConflict');
});

describe('replicas with different states', () => {
  /**
   * Simulates random orders of creation, change and decision for three definitions, with two replicas that lag by any number of steps.
   */
  test('never give one name to two definitions', () => {
    let given = 0;
    for (let seed = 1; seed <= 3_000; seed += 1) given += race(seed);
    expect(given).toBeGreaterThan(1_000);
  });
});

/** Runs one history with random decisions on random stale states; returns how many names were accepted. */
function race(seed: number): number {
  const random = generator(seed);
  const pick = (bound: number): number => Math.floor(random() * bound);
  const states: (readonly Definition[])[] = [[]];
  let revision = 0;
  let given = 0;
  const put = (next: Definition): void => {
    const current = states.at(-1) ?? [];
    states.push([...current.filter(({ name }) => name !== next.name), next]);
  };
  for (let step = 0; step < 14; step += 1) {
    revision += 1;
    const plural = ['as', 'bs', 'cs'][pick(3)] ?? 'as';
    const current = states.at(-1)?.find((each) => each.wantedNames.plural === plural);
    const kind = ['K', 'L'][pick(2)] ?? 'K';
    if (current === undefined || random() < 0.2) {
      put(definition(revision, names(plural, { kind }), current?.acceptedNames ?? NO_NAMES));
      continue;
    }
    if (random() < 0.1) {
      states.push((states.at(-1) ?? []).filter(({ name }) => name !== current.name));
      continue;
    }
    // A decision uses the state of some replica, and is written only if the definition is unchanged.
    const seen = states[Math.max(0, states.length - 1 - pick(6))] ?? [];
    const decided = seen.find(({ name }) => name === current.name);
    if (decided === undefined || decided.revision !== current.revision) continue;
    const { acceptedNames, namesAccepted } = nameWithin(decided, seen);
    if (namesAccepted.status === 'True') given += 1;
    put({ ...current, revision, acceptedNames });
    const kinds = (states.at(-1) ?? []).map((each) => each.acceptedNames.kind).filter((each) => each !== '');
    expect(new Set(kinds).size).toBe(kinds.length);
  }
  return given;
}

function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

test('isNamed is true once all available names are accepted and reported', () => {
  const own = definition(1, names('foos'), names('foos'));
  expect(isNamed(own, [own])).toBe(false);
  const { namesAccepted } = nameWithin(own, [own]);
  const named = { ...own, namesAccepted: { ...namesAccepted } };
  expect(isNamed(named, [named])).toBe(true);
  expect(isNamed({ ...named, wantedNames: names('foos', { shortNames: ['f'] }) }, [named])).toBe(false);
  expect(waitsForNames(named)).toBe(false);
  expect(waitsForNames({ ...named, namesAccepted: { ...namesAccepted, status: 'False' } })).toBe(true);
});
