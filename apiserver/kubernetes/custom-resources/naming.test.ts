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
  judged: '',
  isEstablished: false,
  isTerminating: false,
  awaitsCleanup: false,
  fingerprint: '',
});

test('a definition gets all names that nobody has', () => {
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

test('names that another one has are refused, the others are given all the same', () => {
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

test('the last conflict is told, of several short names all', () => {
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

test('a kind may be called like a resource, and a list like no kind', () => {
  const other = definition(1, names('foos'), names('foos'));
  const own = definition(2, names('bars', { kind: 'foo', listKind: 'FOO' }));
  expect(nameWithin(own, [other, own]).namesAccepted.reason).toBe('ListKindConflict');
});

test('names once accepted are kept, whatever is wanted of them later', () => {
  const other = definition(1, names('foos'), names('foos'));
  const own = definition(2, names('bars', { singular: 'foo' }), names('bars'));
  expect(nameWithin(own, [other, own]).acceptedNames.singular).toBe('bar');
});

test('of two that wait for the same name the one that was written first gets it, whoever looks at which first', () => {
  const first = definition(5, names('foos', { kind: 'Same' }));
  const second = definition(6, names('bars', { kind: 'Same' }));
  const group = [second, first];
  expect(nameWithin(first, group).acceptedNames.kind).toBe('Same');
  expect(nameWithin(second, group).namesAccepted.reason).toBe('KindConflict');
});

describe('replicas that look at different states', () => {
  /** Every order in which three definitions can come, change and be decided on, by two replicas that are behind by any number of steps. */
  test('never give one name to two definitions', () => {
    let given = 0;
    for (let seed = 1; seed <= 3_000; seed += 1) given += race(seed);
    expect(given).toBeGreaterThan(1_000);
  });
});

/** Plays one history with random decisions on random older states; returns how many names were given. */
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
    // A decision is made on what some replica sees, and written only if the definition is still the same.
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

test('a definition is named when it has what it can have, and that was said', () => {
  const own = definition(1, names('foos'), names('foos'));
  expect(isNamed(own, [own])).toBe(false);
  const { namesAccepted } = nameWithin(own, [own]);
  const told = { ...own, namesAccepted: { ...namesAccepted } };
  expect(isNamed(told, [told])).toBe(true);
  expect(isNamed({ ...told, wantedNames: names('foos', { shortNames: ['f'] }) }, [told])).toBe(false);
  expect(waitsForNames(told)).toBe(false);
  expect(waitsForNames({ ...told, namesAccepted: { ...namesAccepted, status: 'False' } })).toBe(true);
});
