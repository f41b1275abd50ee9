import assert from 'node:assert/strict';
import * as hooks from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from 'orch/client';
import { makeServingCertificate, useControlPlane } from 'orch/testing';
import { runOperator } from './run-operator';
import { serveWebhook } from './serve-webhook';
import { Sites } from './site';

const cluster = useControlPlane(hooks, {
  crds: ['config/crd.yaml'],
  objects: ['config/rbac.yaml'],
  nodes: 1,
});
const sites = () => connect(cluster()).of(Sites, 'default');
const blog = { metadata: { name: 'blog' }, spec: { host: 'blog.example.com', page: 'hello' } };

/** Runs the operator, with the rights of its own user, while the test runs. */
async function withOperator(work: () => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const client = connect(cluster().as('site-operator'));
  const running = runOperator(client, { identity: 'test' }, stop.signal);
  try {
    await work();
  } finally {
    stop.abort();
    await running;
  }
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await delay(10);
}

hooks.test('a site gets ready, and goes with all that it owns', () =>
  withOperator(async () => {
    await sites().create(blog);
    await until(async () => (await sites().get('blog')).status?.phase === 'Ready');
    await sites().delete('blog');
    await until(async () => (await connect(cluster()).apps.v1.deployments().list()).items.length === 0);
  }),
);

hooks.test('conflicts, cut watches and expired ones do no harm', () =>
  withOperator(async () => {
    cluster().faults.conflict('sites', 2);
    cluster().faults.cutWatches({ after: 1, times: 6, user: 'site-operator' });
    await sites().create(blog);
    cluster().faults.expire('sites');
    await until(async () => (await sites().get('blog')).status?.phase === 'Ready');
  }),
);

hooks.test('the webhook denies a host that another site has', async () => {
  const { cert, key, ca } = makeServingCertificate();
  const webhook = await serveWebhook({ client: connect(cluster()), cert, key, port: 0 });
  try {
    await cluster().apply({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'sites' },
      webhooks: [
        {
          name: 'sites.example.com',
          clientConfig: {
            url: `https://127.0.0.1:${webhook.port}/`,
            caBundle: Buffer.from(ca).toString('base64'),
          },
          rules: [
            { apiGroups: ['example.com'], apiVersions: ['v1'], operations: ['*'], resources: ['sites'] },
          ],
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    });
    await sites().create(blog);
    await assert.rejects(
      sites().create({ ...blog, metadata: { name: 'other' } }),
      /is the host of default\/blog/u,
    );
  } finally {
    await webhook.close();
  }
});
