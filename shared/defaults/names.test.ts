import { getDefaults } from './defaults';

const completed = (schema: string, object: object): unknown =>
  getDefaults(schema)({ metadata: {}, ...object });

test.each([
  [{ serviceAccountName: 'a' }, 'a'],
  [{ serviceAccount: 'b' }, 'b'],
  [{ serviceAccountName: 'a', serviceAccount: 'b' }, 'a'],
])('a pod and a template with %j have both names of the service account', (given, name) => {
  const both = { serviceAccountName: name, serviceAccount: name };
  expect(completed('core/v1.Pod', { spec: given })).toMatchObject({ spec: both });
  expect(completed('apps/v1.Deployment', { spec: { template: { spec: given } } })).toMatchObject({
    spec: { template: { spec: both } },
  });
});
