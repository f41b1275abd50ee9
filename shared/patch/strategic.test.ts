import { messageType } from '../schema/types';
import { PatchError } from './patch-error';
import { applyStrategicPatch } from './strategic';

const DEPLOYMENT = messageType('apps/v1.Deployment');

const LIVE = {
  metadata: { labels: { a: '1', b: '2' }, finalizers: ['x', 'y'] },
  spec: {
    replicas: 1,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } },
    template: {
      spec: {
        containers: [
          {
            name: 'a',
            image: 'i:1',
            args: ['one', 'two'],
            env: [
              { name: 'X', value: '1' },
              { name: 'Y', value: '2' },
            ],
          },
          { name: 'b', image: 'i:2' },
        ],
        tolerations: [{ key: 't' }],
        volumes: [{ name: 'v', emptyDir: {} }],
      },
    },
  },
};

interface Result {
  metadata: { labels: object; finalizers: string[] };
  spec: {
    replicas?: number;
    strategy: object;
    template: {
      spec: {
        containers: { name: string; env?: object[]; args?: string[] }[];
        tolerations: object[];
        volumes: object[];
      };
    };
  };
}

function patched(patch: unknown): Result {
  const before = JSON.stringify([LIVE, patch]);
  const result = applyStrategicPatch(DEPLOYMENT, LIVE, patch);
  expect(JSON.stringify([LIVE, patch])).toBe(before);
  return result as unknown as Result;
}

function inPod(spec: object): Result['spec']['template']['spec'] {
  return patched({ spec: { template: { spec } } }).spec.template.spec;
}

const names = (spec: { containers: { name: string }[] }): string[] => spec.containers.map(({ name }) => name);

test('an item is merged by its key, a new one goes before what the patch does not name', () => {
  const { containers } = inPod({ containers: [{ name: 'c' }, { name: 'a', image: 'i:9' }] });
  expect(names({ containers })).toEqual(['c', 'a', 'b']);
  expect(containers[1]).toMatchObject({ image: 'i:9', args: ['one', 'two'] });
});

test('items that the patch does not name keep their relative order', () => {
  expect(names(inPod({ containers: [{ name: 'b' }] }))).toEqual(['a', 'b']);
  expect(names(inPod({ containers: [{ name: 'b' }, { name: 'a' }] }))).toEqual(['b', 'a']);
});

test('an item is deleted by its key; one that is missing is no error', () => {
  expect(
    names(
      inPod({
        containers: [
          { name: 'a', $patch: 'delete' },
          { name: 'zz', $patch: 'delete' },
        ],
      }),
    ),
  ).toEqual(['b']);
});

test('items for an absent list need no merge keys', () => {
  const references = [{ kind: 'A' }, { uid: 'x', $patch: 'delete' }, { kind: 'B' }];
  expect(patched({ metadata: { ownerReferences: references } }).metadata).toMatchObject({
    ownerReferences: [{ kind: 'A' }, { kind: 'B' }],
  });
});

test('$patch: replace in a list keeps only the items of the patch', () => {
  expect(names(inPod({ containers: [{ $patch: 'replace' }, { name: 'n' }] }))).toEqual(['n']);
});

test('lists merge inside merged items', () => {
  const { containers } = inPod({
    containers: [
      { name: 'a', env: [{ name: 'X', value: '9' }, { name: 'Y', $patch: 'delete' }, { name: 'Z' }] },
    ],
  });
  expect(containers[0]?.env).toEqual([{ name: 'X', value: '9' }, { name: 'Z' }]);
});

test('a deletion from an absent list has no effect', () => {
  const { containers } = inPod({
    containers: [{ name: 'b', env: [{ name: 'X', $patch: 'delete' }, { name: 'N' }] }],
  });
  expect(containers[1]?.env).toEqual([{ name: 'N' }]);
});

test('a list without merge strategy is replaced', () => {
  expect(inPod({ containers: [{ name: 'a', args: ['three'] }] }).containers[0]?.args).toEqual(['three']);
  expect(inPod({ tolerations: [] }).tolerations).toEqual([]);
});

test('scalars in a merged list are a set, from which they can be deleted', () => {
  expect(patched({ metadata: { finalizers: ['z', 'x'] } }).metadata.finalizers).toEqual(['z', 'x', 'y']);
  const gone = { metadata: { '$deleteFromPrimitiveList/finalizers': ['x'], finalizers: ['w'] } };
  expect(patched(gone).metadata.finalizers).toEqual(['w', 'y']);
});

test('null deletes a key', () => {
  expect(patched({ spec: { replicas: null } }).spec).not.toHaveProperty('replicas');
  expect(patched({ metadata: { labels: { a: null, c: '3' } } }).metadata.labels).toEqual({ b: '2', c: '3' });
});

test('maps can be replaced and emptied by a directive', () => {
  expect(patched({ metadata: { labels: { $patch: 'replace', c: '3' } } }).metadata.labels).toEqual({
    c: '3',
  });
  expect(patched({ metadata: { labels: { $patch: 'delete' } } }).metadata.labels).toEqual({});
});

test('a map has no directive to merge, as merging is what it does', () => {
  const merged = { metadata: { labels: { $patch: 'merge', c: '3' } } };
  expect(() => patched(merged)).toThrow('unknown patch type: "merge"');
});

test('$retainKeys clears what it does not name', () => {
  expect(patched({ spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } }).spec.strategy).toEqual({
    type: 'Recreate',
  });
  const volume = { name: 'v', $retainKeys: ['name', 'configMap'], configMap: { name: 'c' } };
  expect(inPod({ volumes: [volume] }).volumes).toEqual([{ name: 'v', configMap: { name: 'c' } }]);
});

test('$setElementOrder orders the list, with or without a patch of it', () => {
  const order = { '$setElementOrder/containers': [{ name: 'b' }, { name: 'n' }, { name: 'a' }] };
  expect(names(inPod(order))).toEqual(['b', 'a']);
  expect(names(inPod({ ...order, containers: [{ name: 'n' }] }))).toEqual(['b', 'n', 'a']);
  const finalizers = { '$setElementOrder/finalizers': ['y', 'x'] };
  expect(patched({ metadata: finalizers }).metadata.finalizers).toEqual(['y', 'x']);
  const ofNothing = { '$setElementOrder/finalizers': [], finalizers: ['z'] };
  expect(patched({ metadata: ofNothing }).metadata.finalizers).toContain('z');
});

test('the rest of an order is ignored once every item is placed', () => {
  expect(
    names(inPod({ '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }, 5], containers: [] })),
  ).toEqual(['b', 'a']);
});

test.each<[string, unknown, unknown]>([
  ['null takes the list away', null, undefined],
  ['what is no list takes its place', 'x', 'x'],
  ['a list takes out what it names', ['x'], ['y']],
])('$deleteFromPrimitiveList: %s', (_what, change, expected) => {
  const patch = { metadata: { '$deleteFromPrimitiveList/finalizers': change } };
  expect(patched(patch).metadata.finalizers).toEqual(expected);
});

test('$deleteFromPrimitiveList of structs merges them into their list', () => {
  const spec = inPod({ '$deleteFromPrimitiveList/containers': [{ name: 'b', image: 'i:3' }, { name: 'n' }] });
  expect(names(spec)).toEqual(['a', 'b', 'n']);
  expect(spec.containers[1]).toEqual({ name: 'b', image: 'i:3' });
});

describe('where there is nothing to merge with', () => {
  test.each<[what: string, patch: object, annotations: unknown]>([
    ['a null in a map', { a: null, b: '1' }, { b: '1' }],
    ['a map of nulls', { a: null }, {}],
    ['a map with a directive', { $patch: 'replace', a: '1' }, undefined],
  ])('%s adds nothing of it', (_what, annotations, expected) => {
    expect(patched({ metadata: { annotations } }).metadata).toEqual({
      ...LIVE.metadata,
      ...(expected === undefined ? {} : { annotations: expected }),
    });
  });

  test('nulls and directives below a new value add nothing', () => {
    const affinity = { nodeAffinity: { a: null, b: { $patch: 'delete' }, c: [{ d: null }, null] } };
    expect(inPod({ affinity })).toMatchObject({ affinity: { nodeAffinity: { c: [{}, null] } } });
    expect(inPod({ affinity: { podAffinity: null } })).toMatchObject({ affinity: {} });
  });

  test('a value of another type is replaced in the same way', () => {
    expect(patched({ metadata: { finalizers: { a: null, b: 1 } } }).metadata.finalizers).toEqual({ b: 1 });
  });

  test('a list with an order keeps the nulls of its items', () => {
    const order = { '$setElementOrder/initContainers': [{ name: 'n' }] };
    const item = { name: 'n', args: null };
    expect(inPod({ ...order, initContainers: [item] })).toMatchObject({ initContainers: [item] });
  });
});

test('a null patch and an empty patch change nothing', () => {
  expect(patched(null)).toEqual(LIVE);
  expect(patched({})).toEqual(LIVE);
});

test.each<[string, unknown, string]>([
  ['a list', [], 'malformed'],
  ['text', 'x', 'malformed'],
  [
    '$retainKeys that does not name a field of the patch',
    { spec: { strategy: { $retainKeys: ['x'], type: 'y' } } },
    'malformed',
  ],
  ['$retainKeys that is no list', { spec: { $retainKeys: 'x' } }, 'malformed'],
  ['an unknown directive', { metadata: { labels: { $patch: 'explode' } } }, 'failed'],
  ['a directive that is no text', { metadata: { labels: { $patch: 5 } } }, 'failed'],
  [
    'an unknown directive in a list',
    { spec: { template: { spec: { containers: [{ name: 'a', $patch: 'explode' }] } } } },
    'failed',
  ],
  ['an item without its key', { spec: { template: { spec: { containers: [{ image: 'x' }] } } } }, 'failed'],
  [
    'a deletion without its key',
    { spec: { template: { spec: { containers: [{ $patch: 'delete' }] } } } },
    'failed',
  ],
  ['an item that is no object', { spec: { template: { spec: { containers: ['x'] } } } }, 'failed'],
  [
    'an order that lacks an item',
    { metadata: { '$setElementOrder/finalizers': ['x'], finalizers: ['y'] } },
    'failed',
  ],
  ['an order that is no list', { metadata: { '$setElementOrder/finalizers': 'x' } }, 'failed'],
  [
    'an order of scalars for structs',
    { spec: { template: { spec: { '$setElementOrder/containers': ['b'] } } } },
    'failed',
  ],
  [
    'an order of new structs without their key',
    {
      spec: {
        template: {
          spec: { '$setElementOrder/initContainers': [{ name: 'a' }], initContainers: [{ name: 'a' }, {}] },
        },
      },
    },
    'failed',
  ],
  ['a set with an object in it', { metadata: { finalizers: [{}] } }, 'failed'],
])('%s is refused', (_what, patch, kind) => {
  expect(() => applyStrategicPatch(DEPLOYMENT, LIVE, patch)).toThrow(
    expect.objectContaining({ name: 'PatchError', kind }),
  );
});

test('a patch that nests too deep is refused', () => {
  let nested: object = {};
  for (let depth = 0; depth < 2_000; depth += 1) nested = { a: nested };
  expect(() => applyStrategicPatch(DEPLOYMENT, LIVE, nested)).toThrow('nests deeper');
});

test('keys named like inherited properties are ordinary data', () => {
  const patch = JSON.parse('{"metadata":{"labels":{"__proto__":"x","constructor":"y"}}}') as unknown;
  expect(JSON.stringify(patched(patch).metadata.labels)).toBe(
    '{"a":"1","b":"2","__proto__":"x","constructor":"y"}',
  );
  expect(Object.prototype).not.toHaveProperty('polluted');
});

describe('one item that a patch names repeatedly', () => {
  const times = 3_000;
  const containers = (item: (index: number) => object): object => ({
    spec: { template: { spec: { containers: Array.from({ length: times }, (_, index) => item(index)) } } },
  });

  test.each<readonly [what: string, item: (index: number) => object]>([
    ['a map', (index) => ({ name: 'a', resources: { limits: { [`r${String(index)}`]: '1' } } })],
    ['a list', (index) => ({ name: 'a', env: [{ name: `e${String(index)}` }] })],
  ])('is refused when %s in it grows with each merge', (_what, item) => {
    expect(() => applyStrategicPatch(DEPLOYMENT, LIVE, containers(item))).toThrow(
      expect.objectContaining({
        kind: 'too-many',
        message: 'The allowed maximum of fields and list items merged by a strategic merge patch is 1000000',
      }),
    );
  });

  test('is merged each time while the work is small', () => {
    const result = applyStrategicPatch(
      DEPLOYMENT,
      LIVE,
      containers((index) => ({ name: 'a', image: `i:${String(index)}` })),
    );
    expect(result).toHaveProperty('spec.template.spec.containers.0.image', `i:${String(times - 1)}`);
  });
});

test.each([
  { spec: { $patch: [9_007_199_254_740_993n] } },
  { spec: { volumes: [{ $patch: { a: 9_007_199_254_740_993n }, name: 'v' }] } },
])('a directive of the wrong type is refused, even with bigints in it', (patch) => {
  const original = { spec: { volumes: [{ name: 'v' }] } };
  const apply = (): unknown => applyStrategicPatch(messageType('core/v1.Pod'), original, patch);
  expect(apply).toThrow(PatchError);
  expect(apply).toThrow(/unknown patch type: .*9007199254740993/);
});
