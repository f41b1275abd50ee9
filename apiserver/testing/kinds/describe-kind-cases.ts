import { applyMergePatch as mergePatch } from '../../../shared/patch/merge-patch';
import { isOnByDefault } from '../../../shared/flags/feature-gate-table';
import { DEFAULT_KIND_SETTINGS } from '../../engine/registry/strategy';
import { FIELD_GATES, SERVER_GATES } from '../../kubernetes/kinds/field-gates';
import type { InProcessApi } from '../in-process-api';
import { startInProcessApi } from '../in-process-api';
import type { KindCases } from './kind-cases';
import { causesOf } from './refusals';

/** Registers the tests of the cases with a server that serves every version at the API level of the process. */
export function describeKindCases(cases: readonly KindCases[]): void {
  let api: InProcessApi;
  beforeAll(async () => {
    api = await startInProcessApi(undefined, {
      definitionsLive: false,
      runtimeConfig: new Map([['api/all', true]]),
      kindSettings: { ...DEFAULT_KIND_SETTINGS, gates: gatesOfCases() },
    });
  });
  afterAll(async () => {
    await api.close();
  });

  let count = 0;

  /** The object with a name of its own, unless it has one. */
  function withName(object: object): object {
    count += 1;
    return mergePatch({ metadata: { name: `t${String(count)}` } }, object);
  }

  async function create(url: string, good: object): Promise<string> {
    const reply = await api.call('POST', url, { body: withName(good) });
    expect(causesOf(reply)).toEqual([expect.stringMatching(/^201/)]);
    return reply.json.metadata.name as string;
  }

  async function remove(url: string, name: string): Promise<void> {
    await api.call('DELETE', `${url}/${name}`);
    // The finalizer of a CustomResourceDefinition keeps it until its objects are deleted.
    await api.call('PATCH', `${url}/${name}`, { body: { metadata: { finalizers: null } } });
  }

  async function update(url: string, good: object, patch: object): Promise<readonly string[]> {
    const name = await create(url, good);
    const reply = await api.call('PATCH', `${url}/${name}`, { body: patch });
    await remove(url, name);
    return causesOf(reply);
  }

  describe.each(cases)('$kind at $url', ({ url, good, bad = [], badChanges = [], goodChanges = [] }) => {
    test('the valid object is accepted', async () => {
      const name = await create(url, good);
      expect(name).not.toBe('');
      await remove(url, name);
    });

    for (const [title, patch, causes] of bad) {
      test(`create is refused: ${title}`, async () => {
        const reply = await api.call('POST', url, { body: mergePatch(withName(good), patch) });
        expect(causesOf(reply)).toEqual([...causes].sort());
      });
    }

    for (const [title, patch, causes] of badChanges) {
      test(`update is refused: ${title}`, async () => {
        expect(await update(url, good, patch)).toEqual([...causes].sort());
      });
    }

    for (const [title, patch] of goodChanges) {
      test(`update is accepted: ${title}`, async () => {
        expect(await update(url, good, patch)).toEqual([expect.stringMatching(/^200/)]);
      });
    }
  });
}

/** The gates that are on by default, and those without which a kind is not served. */
function gatesOfCases(): ReadonlySet<string> {
  return new Set([...FIELD_GATES.filter((gate) => isOnByDefault(gate)), ...SERVER_GATES]);
}
