import { GROUP } from '../../../../shared/names';
import type { InProcessApi } from '../../../testing/in-process-api';
import { startInProcessApi } from '../../../testing/in-process-api';

const PATH = `/apis/${GROUP.apiextensions}/v1/customresourcedefinitions`;

let api: InProcessApi;
beforeAll(async () => {
  api = await startInProcessApi();
});
afterAll(async () => api.close());

test.each([
  [{ strategy: 'None', webhook: {} }, 201],
  [{ strategy: 'None', webhook: { clientConfig: null, conversionReviewVersions: null } }, 201],
  [{ strategy: 'None' }, 201],
  [{ strategy: 'None', webhook: { conversionReviewVersions: ['v1'] } }, 422],
  [{ strategy: 'Webhook', webhook: {} }, 422],
])('a conversion webhook of which nothing is said is none: %j', async (conversion, code) => {
  const body = {
    metadata: { name: 'gizmos.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'gizmos', kind: 'Gizmo' },
      conversion,
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
      ],
    },
  };
  const reply = await api.call('POST', `${PATH}?dryRun=All`, { body });
  expect(reply.code).toBe(code);
  if (code !== 201) return;
  expect(reply.json.spec.conversion).toEqual({ strategy: 'None' });
  expect(JSON.stringify(reply.json.metadata.managedFields)).not.toContain('webhook');
});
