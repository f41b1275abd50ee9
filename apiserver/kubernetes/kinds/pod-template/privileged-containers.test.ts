import type { InProcessApi } from '../../../testing/in-process-api';
import { startInProcessApi } from '../../../testing/in-process-api';
import { causesOf } from '../../../testing/kinds/refusals';

const labels = { a: 'b' };
const spec = {
  containers: [{ name: 'c', image: 'i:1', securityContext: { privileged: true } }],
  initContainers: [{ name: 'd', image: 'i:1', securityContext: { privileged: true } }],
};
const once = { ...spec, restartPolicy: 'Never' };
const template = { metadata: { labels }, spec };
const workload = { selector: { matchLabels: labels }, template };

/** Every kind with containers, and where their spec is. */
const KINDS: readonly (readonly [url: string, body: object, path: string])[] = [
  ['/api/v1/namespaces/default/pods', { spec }, 'spec'],
  ['/api/v1/namespaces/default/podtemplates', { template }, 'template.spec'],
  ['/api/v1/namespaces/default/replicationcontrollers', { spec: { template } }, 'spec.template.spec'],
  ['/apis/apps/v1/namespaces/default/deployments', { spec: workload }, 'spec.template.spec'],
  ['/apis/apps/v1/namespaces/default/replicasets', { spec: workload }, 'spec.template.spec'],
  ['/apis/apps/v1/namespaces/default/daemonsets', { spec: workload }, 'spec.template.spec'],
  [
    '/apis/apps/v1/namespaces/default/statefulsets',
    { spec: { ...workload, serviceName: 's' } },
    'spec.template.spec',
  ],
  ['/apis/batch/v1/namespaces/default/jobs', { spec: { template: { spec: once } } }, 'spec.template.spec'],
  [
    '/apis/batch/v1/namespaces/default/cronjobs',
    { spec: { schedule: '@daily', jobTemplate: { spec: { template: { spec: once } } } } },
    'spec.jobTemplate.spec.template.spec',
  ],
];

let strict: InProcessApi;
let lenient: InProcessApi;

beforeAll(async () => {
  strict = await startInProcessApi();
  lenient = await startInProcessApi(undefined, {
    kindSettings: { allowPrivileged: true, ephemeralContainers: false },
  });
});
afterAll(async () => {
  await strict.close();
  await lenient.close();
});

test.each(KINDS)('%s may have privileged containers only where they are allowed', async (url, body, path) => {
  const named = { metadata: { name: 'p' }, ...body };
  expect(causesOf(await strict.call('POST', url, { body: named }))).toEqual([
    `Forbidden ${path}.containers[0].securityContext.privileged`,
    `Forbidden ${path}.initContainers[0].securityContext.privileged`,
  ]);
  expect((await lenient.call('POST', url, { body: named })).code).toBe(201);
});
