import { RESOURCE } from '../../../shared/api/resource-names';
import type { Secret } from '../../../shared/api/types/core-v1';
import type { Client } from '../../../shared/client/client';
import { hasCode } from '../../../shared/client/status';
import { MEDIA_TYPE, RESTARTED_AT, SECRET_TYPE } from '../../../shared/names';
import type { Bundle, BundleStore } from './bundle-store';
import { BUNDLE_FILE } from './bundle-store';

export interface SecretStoreOptions {
  /** Of the cluster that keeps the Secrets. */
  readonly client: Client;
  readonly namespace: string;
  /** What new Secrets are labelled with. */
  readonly labels: Readonly<Record<string, string>>;
}

/** Bundles as Secrets of a namespace. Concurrent writers are detected by the Secret's resourceVersion. */
export function openSecretStore({ client, namespace, labels }: SecretStoreOptions): BundleStore {
  const versions = new Map<string, string>();
  return {
    read: async (name) => {
      const secret = await found(client.get(RESOURCE.secrets, { namespace, name }));
      versions.set(name, secret?.metadata.resourceVersion ?? '');
      return secret === undefined ? undefined : decoded(secret);
    },
    write: async (name, bundle) => {
      const resourceVersion = versions.get(name) ?? '';
      const type = BUNDLE_FILE.certificate in bundle ? SECRET_TYPE.tls : 'Opaque';
      const secret = { apiVersion: 'v1', kind: 'Secret', type, data: encoded(bundle) };
      try {
        if (resourceVersion === '')
          await client.create(RESOURCE.secrets, { ...secret, metadata: { namespace, name, labels } });
        else
          await client.update(RESOURCE.secrets, {
            ...secret,
            metadata: { namespace, name, labels, resourceVersion },
          });
        return true;
      } catch (error) {
        if (hasCode(error, CONFLICT)) return false;
        throw error;
      }
    },
    restart: async ({ kind, name }) => {
      const annotations = { [RESTARTED_AT]: new Date().toISOString() };
      const body = { spec: { template: { metadata: { annotations } } } };
      // A workload that does not exist yet reads what it needs when it starts.
      const target = { namespace, name };
      const change = { contentType: MEDIA_TYPE.strategicMergePatch, body };
      await (kind === 'Deployment'
        ? found(client.patch(RESOURCE.deployments, target, change))
        : found(client.patch(RESOURCE.statefulsets, target, change)));
    },
    close: () => {
      client.close();
    },
  };
}
const NOT_FOUND = 404;
const CONFLICT = 409;

async function found<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (hasCode(error, NOT_FOUND)) return undefined;
    throw error;
  }
}

function decoded({ data }: Secret): Bundle {
  return Object.fromEntries(
    Object.entries(data ?? {}).map(([file, text]) => [file, Buffer.from(text ?? '', 'base64').toString()]),
  );
}

function encoded(bundle: Bundle): Record<string, string> {
  return Object.fromEntries(
    Object.entries(bundle).map(([file, text]) => [file, Buffer.from(text).toString('base64')]),
  );
}
