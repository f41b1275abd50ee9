import { applyMergePatch as mergePatch } from '../../../shared/patch/merge-patch';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import { admissionregistrationCases } from '../../testing/kinds/cases/admissionregistration';
import { apiextensionsCases } from '../../testing/kinds/cases/apiextensions';
import { apiextensionsV1beta1Cases } from '../../testing/kinds/cases/apiextensions-v1beta1';
import { apiregistrationCases } from '../../testing/kinds/cases/apiregistration';
import { autoscalingCases } from '../../testing/kinds/cases/autoscaling';
import { certificatesCases } from '../../testing/kinds/cases/certificates';
import { coordinationCases } from '../../testing/kinds/cases/coordination';
import { coreCases } from '../../testing/kinds/cases/core';
import { coreVolumesCases } from '../../testing/kinds/cases/core-volumes';
import { coreEventsCases } from '../../testing/kinds/cases/core-events';
import { discoveryCases } from '../../testing/kinds/cases/discovery';
import { flowcontrolCases } from '../../testing/kinds/cases/flowcontrol';
import { networkingCases } from '../../testing/kinds/cases/networking';
import { nodeCases } from '../../testing/kinds/cases/node';
import { policyCases } from '../../testing/kinds/cases/policy';
import { rbacCases } from '../../testing/kinds/cases/rbac';
import { schedulingCases } from '../../testing/kinds/cases/scheduling';
import { storageCases } from '../../testing/kinds/cases/storage';
import type { KindCases } from '../../testing/kinds/kind-cases';
import { causesOf } from '../../testing/kinds/refusals';

const CASES: readonly KindCases[] = [
  ...admissionregistrationCases,
  ...apiextensionsCases,
  ...apiextensionsV1beta1Cases,
  ...apiregistrationCases,
  ...autoscalingCases,
  ...certificatesCases,
  ...coordinationCases,
  ...coreCases,
  ...coreVolumesCases,
  ...coreEventsCases,
  ...discoveryCases,
  ...flowcontrolCases,
  ...networkingCases,
  ...nodeCases,
  ...policyCases,
  ...rbacCases,
  ...schedulingCases,
  ...storageCases,
];

let api: InProcessApi;
beforeAll(async () => {
  api = await startInProcessApi(undefined, { definitionsLive: false });
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

describe.each(CASES)('$kind at $url', ({ url, good, bad = [], badChanges = [], goodChanges = [] }) => {
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
