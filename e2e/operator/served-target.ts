import { readFileSync } from 'node:fs';
import path from 'node:path';
import { loadAll } from 'js-yaml';
import { applyPatch, connect, defineResource, hasCode } from 'orch/client';
import { eventually } from '../../shared/testing/eventually';
import type { ProxiedServer } from './fault-proxy';
import { startFaultProxy } from './fault-proxy';
import type { Target } from './operator-suite';
import { Sites } from './site';

const CONFIG = path.join(__dirname, 'config');
/** With a shorter lease no operator would lead where ten programs share two cores: a request may take seconds there. */
const LEASE_MS = 15_000;

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

/** Prepares a server for the suite: its definition and the roles of the operator. */
export async function prepareTarget(server: ProxiedServer, stop?: () => Promise<void>): Promise<Target> {
  const admin = connect(server);
  for (const file of ['crd.yaml', 'rbac.yaml']) {
    for (const manifest of loadAll(readFileSync(path.join(CONFIG, file), 'utf8')) as Manifest[]) {
      const [version = '', group = ''] = manifest.apiVersion.split('/').toReversed();
      const resource = `${manifest.kind.toLowerCase()}s`;
      const definition = { group, version, resource, kind: manifest.kind, namespaced: false };
      const patch = applyPatch(manifest, { force: true });
      await admin
        .of(defineResource(definition))
        .patch(manifest.metadata.name, patch, { fieldManager: 'suite' });
    }
  }
  await eventually('sites are served', async () =>
    admin
      .of(Sites)
      .list()
      .then(
        () => true,
        (error: unknown) => {
          if (hasCode(error, 404)) return false;
          throw error;
        },
      ),
  );
  return {
    admin,
    leaseMs: LEASE_MS,
    link: async () => startFaultProxy(server, 'site-operator'),
    stop: async () => {
      admin.close();
      await stop?.();
    },
  };
}
