import { MEDIA_TYPE } from '../../../shared/names';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';

const MAPS = '/api/v1/namespaces/default/configmaps';

let api: InProcessApi;
beforeAll(async () => {
  api = await startInProcessApi(undefined, { definitionsLive: false });
  await api.call('POST', MAPS, { body: { metadata: { name: 'a' } } });
});
afterAll(async () => {
  await api.close();
});

const DRY = 'dryRun: Unsupported value: []string{"All", "x"}: supported values: "All"';
const LONG = 'fieldManager: Too long: must have at most 128 bytes';
const manager = 'm'.repeat(129);

test.each([
  ['POST', MAPS, `fieldManager=${manager}&dryRun=All&dryRun=x`, [LONG, DRY]],
  ['PUT', `${MAPS}/a`, `fieldManager=${manager}&dryRun=All&dryRun=x`, [LONG, DRY]],
  [
    'PATCH',
    `${MAPS}/a`,
    `force=true&fieldManager=${manager}&dryRun=All&dryRun=x`,
    ['force: Forbidden: may not be specified for non-apply patch', LONG, DRY],
  ],
  [
    'DELETE',
    `${MAPS}/a`,
    'propagationPolicy=x&orphanDependents=true&dryRun=All&dryRun=x',
    [
      'propagationPolicy: Invalid value: "x": orphanDependents and deletionPropagation cannot be both set',
      'propagationPolicy: Unsupported value: "x": supported values: "Foreground", "Background", "Orphan", "nil"',
      DRY,
    ],
  ],
])('all errors in the options of a %s to %s?%s are reported', async (method, url, query, messages) => {
  const body = method === 'DELETE' ? {} : { body: { metadata: { name: 'a' } } };
  const headers = method === 'PATCH' ? { headers: { 'content-type': MEDIA_TYPE.mergePatch } } : {};
  const { code, json } = await api.call(method, `${url}?${query}`, { ...body, ...headers });
  const causes = (json.details?.causes ?? []) as readonly { field: string; message: string }[];
  expect([code, causes.map(({ field, message }) => `${field}: ${message}`)]).toEqual([422, messages]);
});
