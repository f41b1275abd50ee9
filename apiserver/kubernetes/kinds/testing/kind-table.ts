import { applyMergePatch as mergePatch } from '../../../../shared/patch/merge-patch';
import type { InProcessApi } from '../../../testing/in-process-api';
import { startInProcessApi } from '../../../testing/in-process-api';
import { causesOf } from './refusals';

/** One way to spoil the good object: what is wrong, a merge patch that makes it so, and the causes as `Reason field`, without the `FieldValue` that all reasons begin with. */
export type Spoiled = readonly [title: string, patch: object, causes: readonly string[]];

export interface KindTable {
  readonly url: string;
  /** Without a name: each request gets one of its own, unless the kind has rules for its names. */
  readonly good: object;
  /** Creations that are refused. */
  readonly bad?: readonly Spoiled[];
  /** Changes of the good object that are refused. */
  readonly badChanges?: readonly Spoiled[];
  /** Changes that are allowed. */
  readonly goodChanges?: readonly (readonly [title: string, patch: object])[];
}

let count = 0;

/** Registers the tests of one kind with the running jest. */
export function testKind(
  kind: string,
  { url, good, bad = [], badChanges = [], goodChanges = [] }: KindTable,
): void {
  describe(kind, () => {
    let api: InProcessApi;
    beforeAll(async () => {
      api = await startInProcessApi(undefined, { definitionsLive: false });
    });
    afterAll(async () => {
      await api.close();
    });

    const named = (object: object): object => {
      count += 1;
      return mergePatch({ metadata: { name: `t${String(count)}` } }, object);
    };
    const create = async (): Promise<string> => {
      const reply = await api.call('POST', url, { body: named(good) });
      expect(causesOf(reply)).toEqual([expect.stringMatching(/^201/)]);
      return reply.json.metadata.name as string;
    };

    const remove = async (name: string): Promise<void> => {
      await api.call('DELETE', `${url}/${name}`);
      // A definition is held until its objects are gone.
      await api.call('PATCH', `${url}/${name}`, { body: { metadata: { finalizers: null } } });
    };

    test('the good object is accepted', async () => {
      const name = await create();
      await remove(name);
    });

    if (bad.length > 0) {
      test.each(bad)('is refused with %s', async (_title, patch, causes) => {
        const reply = await api.call('POST', url, { body: mergePatch(named(good), patch) });
        expect(causesOf(reply)).toEqual([...causes].sort());
      });
    }

    if (badChanges.length > 0) {
      test.each(badChanges)('does not change by %s', async (_title, patch, causes) => {
        const name = await create();
        const reply = await api.call('PATCH', `${url}/${name}`, { body: patch });
        await remove(name);
        expect(causesOf(reply)).toEqual([...causes].sort());
      });
    }

    if (goodChanges.length > 0) {
      test.each(goodChanges)('changes by %s', async (_title, patch) => {
        const name = await create();
        const reply = await api.call('PATCH', `${url}/${name}`, { body: patch });
        await remove(name);
        expect(causesOf(reply)).toEqual([expect.stringMatching(/^200/)]);
      });
    }
  });
}
