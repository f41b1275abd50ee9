import type { ApiObject } from '../../../shared/object/object';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import { withDistinctOwners } from './distinct-owners';

const MAPS = '/api/v1/namespaces/default/configmaps';
const OWNER = { apiVersion: 'v1', kind: 'Pod', name: 'o', uid: 'u' };
const TWICE = [OWNER, { ...OWNER, name: 'p' }, OWNER];
const ONCE = [OWNER, { ...OWNER, name: 'p' }];

let api: InProcessApi;

beforeAll(async () => {
  api = await startInProcessApi();
});
afterAll(async () => {
  await api.close();
});

test.each([
  ['POST', MAPS, { metadata: { name: 'a', ownerReferences: TWICE } }],
  ['PUT', `${MAPS}/a`, { metadata: { name: 'a', ownerReferences: TWICE } }],
  ['PATCH', `${MAPS}/a`, { metadata: { ownerReferences: TWICE } }],
])(
  'an owner that a %s tells twice in the same words is kept once, with a warning',
  async (method, url, body) => {
    const { json, warnings } = await api.call(method, url, { body });
    expect(json.metadata.ownerReferences).toEqual(ONCE);
    expect(warnings).toEqual([expect.stringMatching(/duplicate UID\(s\) observed: u$/)]);
  },
);

test('different owners cause no warning', async () => {
  const body = { metadata: { name: 'b', ownerReferences: ONCE } };
  const { code, warnings } = await api.call('POST', MAPS, { body });
  expect([code, warnings]).toEqual([201, []]);
});

test('the largest list of owners is deduplicated in one pass', () => {
  const ownerReferences = Array.from({ length: 100_000 }, (_, index) => ({
    ...OWNER,
    uid: String(index % 60_000),
  }));
  const warnings: string[] = [];
  const object: ApiObject = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { ownerReferences } };
  const distinct = withDistinctOwners(object, warnings).metadata.ownerReferences;
  expect(distinct).toEqual(ownerReferences.slice(0, 60_000));
  expect(warnings).toEqual([expect.stringMatching(/observed: 0, 1, .*, 39998, 39999$/)]);
});
