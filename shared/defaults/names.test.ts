import { LABEL } from '../names';
import { defaultsOf } from './defaults';

const completed = (schema: string, object: object): unknown =>
  defaultsOf(schema)?.({ metadata: {}, ...object });

test('a namespace has its name as a label, whatever the client says', () => {
  const metadata = { name: 'team', labels: { a: 'b', [LABEL.metadataName]: 'other' } };
  expect(completed('core/v1.Namespace', { metadata })).toMatchObject({
    metadata: { labels: { a: 'b', [LABEL.metadataName]: 'team' } },
  });
});

test('a namespace whose name is still to be made has no such label yet', () => {
  expect(completed('core/v1.Namespace', { metadata: { generateName: 'team-' } })).not.toHaveProperty(
    'metadata.labels',
  );
});

test.each([
  [{ serviceAccountName: 'a' }, 'a'],
  [{ serviceAccount: 'b' }, 'b'],
  [{ serviceAccountName: 'a', serviceAccount: 'b' }, 'a'],
])('a pod and a template with %j have both names of the account', (given, name) => {
  const both = { serviceAccountName: name, serviceAccount: name };
  expect(completed('core/v1.Pod', { spec: given })).toMatchObject({ spec: both });
  expect(completed('apps/v1.Deployment', { spec: { template: { spec: given } } })).toMatchObject({
    spec: { template: { spec: both } },
  });
});
