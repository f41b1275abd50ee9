import { array, assert, constantFrom, oneof, property, record, uniqueArray } from 'fast-check';
import { NodeUses } from './node-uses';
import type { Reference } from './references';
import { referenceTo } from './references';

const KINDS = ['secret', 'configmap', 'claim'] as const;
const NODES = ['n0', 'n1'] as const;
const NAMES = ['a', 'b', 'c'] as const;

const reference = record({ kind: constantFrom(...KINDS), name: constantFrom(...NAMES) }).map(
  ({ kind, name }) => referenceTo(kind, 'ns', name),
);
const step = oneof(
  record({
    holder: constantFrom('pod 1', 'pod 2', 'pod 3'),
    node: constantFrom(...NODES, ''),
    references: uniqueArray(reference, { maxLength: 4 }),
  }),
  record({
    volume: constantFrom('v1', 'v2', 'v3', 'v4'),
    claim: constantFrom(...NAMES, ''),
    secrets: uniqueArray(constantFrom(...NAMES), { maxLength: 2 }),
  }),
);

test('whatever comes and goes, it answers as a search through everything would', () => {
  assert(
    property(array(step, { maxLength: 30 }), (steps) => {
      const uses = new NodeUses();
      const pods = new Map<string, { readonly node: string; readonly references: readonly Reference[] }>();
      const volumes = new Map<
        string,
        { readonly claim: Reference; readonly secrets: readonly Reference[] }
      >();
      for (const each of steps) {
        if ('holder' in each) {
          const { holder, node, references } = each;
          pods.delete(holder);
          if (node === '') uses.release(holder);
          else {
            uses.hold(holder, node, references);
            pods.set(holder, { node, references });
          }
        } else {
          const { volume, claim, secrets } = each;
          const refers = {
            claim: referenceTo('claim', 'ns', claim),
            secrets: secrets.map((name) => referenceTo('secret', 'ns', name)),
          };
          volumes.delete(volume);
          uses.setVolume(volume, claim === '' ? undefined : refers);
          if (claim !== '') volumes.set(volume, refers);
        }
        const isNeeded = (node: string, wanted: Reference): boolean =>
          [...pods.values()].some((pod) => pod.node === node && pod.references.includes(wanted));
        for (const node of NODES) {
          for (const name of NAMES) {
            for (const kind of KINDS) {
              const wanted = referenceTo(kind, 'ns', name);
              const byVolume = [...volumes.values()].some(
                ({ claim, secrets }) => secrets.includes(wanted) && isNeeded(node, claim),
              );
              expect(uses.needs(node, kind, { namespace: 'ns', name })).toBe(
                isNeeded(node, wanted) || byVolume,
              );
            }
          }
        }
      }
    }),
    { numRuns: 300 },
  );
});
