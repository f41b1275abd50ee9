import type { CustomResourceDefinition } from '../../shared/api/types/apiextensions-v1';
import { runNamespaceController } from '../namespace/namespace-controller';
import type { RoleBench } from '../testing/role-bench';
import { createRoleBench } from '../testing/role-bench';
import { runGarbageCollector } from './garbage-collector';

let bench: RoleBench;
beforeEach(async () => {
  bench = await createRoleBench();
});
afterEach(async () => bench.close());

const DEFINITIONS = '/apis/apiextensions.orch/v1/customresourcedefinitions';
const WIDGETS = '/apis/example.com/v1/namespaces/team/widgets';
const TEAM = '/api/v1/namespaces/team';

const version = (name: string, storage: boolean): object => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
});

/** The conversion webhook does not exist, and the preferred version is not the stored one. */
const DEFINITION = {
  apiVersion: 'apiextensions.orch/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [version('v1', true), version('v2', false)],
    conversion: {
      strategy: 'Webhook',
      webhook: {
        clientConfig: { url: 'https://127.0.0.1:1/convert' },
        conversionReviewVersions: ['v1'],
      },
    },
  },
};

const isGone = (object: object | undefined): boolean => object === undefined;

beforeEach(async () => {
  await bench.call('POST', DEFINITIONS, DEFINITION);
  await bench.when<CustomResourceDefinition>(
    DEFINITIONS,
    'widgets.example.com',
    (object) =>
      object?.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') ===
      true,
  );
  await bench.call('POST', '/api/v1/namespaces', { metadata: { name: 'team' } });
  const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' } };
  await bench.call('POST', WIDGETS, widget);
});

test('a broken conversion webhook blocks neither a foreground deletion nor the deletion of dependents', async () => {
  const owner = await bench.call('POST', `${TEAM}/configmaps`, { metadata: { name: 'owner' } });
  const { uid = '' } = owner.metadata;
  const owned = {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: {
      name: 'owned',
      ownerReferences: [
        { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid, blockOwnerDeletion: true },
      ],
    },
  };
  await bench.call('POST', WIDGETS, owned);
  bench.run(async (context, signal) => runGarbageCollector(context, signal), 'generic-garbage-collector');
  await bench.call('DELETE', `${TEAM}/configmaps/owner?propagationPolicy=Foreground`);
  await bench.when(`${TEAM}/configmaps`, 'owner', isGone);
  expect(await bench.when(WIDGETS, 'owned', isGone)).toBeUndefined();
});

test('a namespace with objects of a broken conversion is deleted', async () => {
  bench.run(async (context, signal) => runNamespaceController(context, signal), 'namespace-controller');
  await bench.call('DELETE', TEAM);
  expect(await bench.when('/api/v1/namespaces', 'team', isGone)).toBeUndefined();
});
