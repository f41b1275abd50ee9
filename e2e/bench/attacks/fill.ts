import type { Answer, ApiClient } from '../../support/client';
import { configMap, defaultServiceAccount, namespace } from '../../support/objects';
import type { Replica } from '../../support/replica';
import { keys } from '../worst/stored';
import type { SlowWebhook } from './slow-webhook';
import { BOOTSTRAP_TOKEN_ID, HOOKED } from './stored';
import { NOISY } from './victim';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const WIDE_KEYS = 60_000;
const BIG_CHARS = 1_000_000;
const TOKEN_SECONDS = 3_600;

/** Creates two tenants with their objects, and a webhook for ConfigMaps of one namespace; resolves with both tokens. */
export async function fillForAttacks(
  { client }: Replica,
  webhook: SlowWebhook,
): Promise<{ readonly quiet: string; readonly noisy: string }> {
  const tokens = {
    quiet: await tenant(client, 'quiet', ['quiet']),
    noisy: await tenant(client, NOISY, [NOISY, HOOKED]),
  };
  const own = `/api/v1/namespaces/${NOISY}/configmaps`;
  await create(client, '/api/v1/namespaces/quiet/configmaps', configMap('small', { a: 'b' }));
  await create(client, own, configMap('small', { a: 'b' }));
  await create(client, own, configMap('wide', keys(WIDE_KEYS)));
  await create(client, own, configMap('big', { text: 'x'.repeat(BIG_CHARS) }));
  await create(client, '/api/v1/namespaces/kube-system/secrets', bootstrapToken());
  await create(
    client,
    '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
    configuration(webhook),
  );
  return tokens;
}

/** Creates a service account with all rights in its namespaces; resolves with its token. */
async function tenant(client: ApiClient, name: string, namespaces: readonly string[]): Promise<string> {
  for (const each of namespaces) {
    await create(client, '/api/v1/namespaces', namespace(each));
    await create(client, `${RBAC}/namespaces/${each}/rolebindings`, {
      metadata: { name: 'tenant' },
      subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: name }],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    });
  }
  await create(client, `/api/v1/namespaces/${name}/serviceaccounts`, defaultServiceAccount());
  const path = `/api/v1/namespaces/${name}/serviceaccounts/default/token`;
  const { body } = await create(client, path, { spec: { expirationSeconds: TOKEN_SECONDS } });
  return (body.status as { readonly token: string }).token;
}

/** A key that the server does not know. */
function bootstrapToken(): object {
  return {
    metadata: { name: `bootstrap-token-${BOOTSTRAP_TOKEN_ID}` },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      'token-id': BOOTSTRAP_TOKEN_ID,
      'token-secret': 'fedcba9876543210',
      'usage-bootstrap-authentication': 'true',
    },
  };
}

function configuration({ url, authority }: SlowWebhook): object {
  return {
    metadata: { name: 'shared' },
    webhooks: [
      {
        name: 'shared.example.com',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        failurePolicy: 'Ignore',
        timeoutSeconds: 10,
        clientConfig: { url, caBundle: Buffer.from(authority).toString('base64') },
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': HOOKED } },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
      },
    ],
  };
}

async function create(client: ApiClient, path: string, body: object): Promise<Answer> {
  const created = await client.create(path, body);
  if (created.status !== 201) throw new Error(`${path}: ${created.text.slice(0, 500)}`);
  return created;
}
