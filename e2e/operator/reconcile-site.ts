import type { Connection, TypedClient } from 'orch/client';
import { updateWithRetry } from 'orch/client';
import type { Site } from './site';
import { Sites } from './site';

export const FINALIZER = 'example.com/hosts';
/** The ConfigMap with the sites of all hosts, for the proxy in front of them. */
export const HOSTS = { namespace: 'site-system', name: 'hosts' };

/** Makes the objects of one site, and reports how far they are. */
export async function reconcileSite(client: TypedClient & Connection, site: Site): Promise<void> {
  const { name = '', namespace = '', finalizers = [], deletionTimestamp } = site.metadata;
  const sites = client.of(Sites, namespace);
  if (deletionTimestamp !== undefined) {
    if (!finalizers.includes(FINALIZER)) return;
    await publishHost(client, site, {});
    await updateWithRetry(sites, name, (current) => withFinalizers(current, (all) => all.delete(FINALIZER)));
    return;
  }
  // First of all, so that no host is published that would never be withdrawn.
  if (!finalizers.includes(FINALIZER))
    await updateWithRetry(sites, name, (current) => withFinalizers(current, (all) => all.add(FINALIZER)));
  await publishHost(client, site, { [site.spec.host]: `${namespace}/${name}` });
  const readyReplicas = await deploy(client, site);
  await updateWithRetry(sites, name, (current) => withStatus(current, site, readyReplicas), {
    subresource: 'status',
  });
}

/** A finalizer withdraws what owner references cannot: one entry of an object in another namespace. */
async function publishHost(
  client: TypedClient & Connection,
  { metadata: { uid = '' } }: Site,
  data: Readonly<Record<string, string>>,
): Promise<void> {
  // Each site is a field manager of its own: what it applies no longer is removed, and the hosts of others stay.
  const fieldManager = `site-${uid}`;
  await client.core.v1
    .configmaps(HOSTS.namespace)
    .apply({ metadata: { name: HOSTS.name }, data }, { fieldManager, force: true });
}

/** Applies the objects that the site owns; returns the number of ready pods. */
async function deploy(client: TypedClient & Connection, { metadata, spec }: Site): Promise<number> {
  const { name = '', namespace = '', uid = '' } = metadata;
  const owner = { apiVersion: 'example.com/v1', kind: 'Site', name, uid, controller: true };
  const own = { name, ownerReferences: [owner] };
  const how = { fieldManager: 'site-operator', force: true };
  await client.core.v1.configmaps(namespace).apply({ metadata: own, data: { 'index.html': spec.page } }, how);
  const labels = { site: name };
  const volumeMounts = [{ name: 'page', mountPath: '/usr/share/nginx/html' }];
  const template = {
    metadata: { labels },
    spec: {
      containers: [{ name: 'web', image: 'nginx', volumeMounts }],
      volumes: [{ name: 'page', configMap: { name } }],
    },
  };
  const deployment = await client.apps.v1
    .deployments(namespace)
    .apply(
      { metadata: own, spec: { replicas: spec.replicas ?? 1, selector: { matchLabels: labels }, template } },
      how,
    );
  return deployment.status?.readyReplicas ?? 0;
}

function withFinalizers(site: Site, change: (all: Set<string>) => void): Site {
  const all = new Set(site.metadata.finalizers);
  change(all);
  return { ...site, metadata: { ...site.metadata, finalizers: [...all] } };
}

/** Returns undefined for a status that is right already. */
function withStatus(current: Site, { metadata, spec }: Site, readyReplicas: number): Site | undefined {
  const phase = readyReplicas >= (spec.replicas ?? 1) ? 'Ready' : 'Deploying';
  const observedGeneration = Number(metadata.generation);
  const { status } = current;
  const isRight =
    status?.phase === phase &&
    status.readyReplicas === readyReplicas &&
    status.observedGeneration === observedGeneration;
  return isRight ? undefined : { ...current, status: { phase, readyReplicas, observedGeneration } };
}
