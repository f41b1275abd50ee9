import { resourceOf } from '../../shared/api/resources';
import { GROUP } from '../../shared/names';
import type { InProcessApi } from './in-process-api';
import { startInProcessApi } from './in-process-api';
import { minimalObject } from './minimal-objects';

/** A list with a default is refused if it is present and empty, as in v1.21. */

let api: InProcessApi;
beforeAll(async () => {
  api = await startInProcessApi();
});
afterAll(async () => api.close());

const REQUESTS = resourceOf({ group: GROUP.certificates, version: 'v1beta1' }, 'certificatesigningrequests');
const REQUEST = (REQUESTS && minimalObject(REQUESTS, ''))?.['spec'] as object;
const AUTOSCALER = { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 3 };

test.each<[path: string, field: string, none: object, empty: object]>([
  [
    `/apis/${GROUP.certificates}/v1beta1/certificatesigningrequests`,
    'spec.usages',
    { ...REQUEST, usages: null },
    { ...REQUEST, usages: [] },
  ],
  [
    `/apis/autoscaling/v2beta2/namespaces/default/horizontalpodautoscalers`,
    'spec.behavior.scaleDown.policies',
    { ...AUTOSCALER, behavior: { scaleDown: {} } },
    { ...AUTOSCALER, behavior: { scaleDown: { policies: [] } } },
  ],
])('%s: %s', async (path, field, none, empty) => {
  const filled = await api.call('POST', path, { body: { metadata: { name: 'none' }, spec: none } });
  expect([filled.code, filled.text]).toEqual([201, expect.stringContaining(field.split('.').at(-1) ?? '')]);
  const refused = await api.call('POST', path, { body: { metadata: { name: 'empty' }, spec: empty } });
  expect([refused.code, refused.json.details?.causes]).toEqual([
    422,
    [expect.objectContaining({ reason: 'FieldValueRequired', field })],
  ]);
});
