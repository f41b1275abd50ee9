import { createHash } from 'node:crypto';
import type { Client } from '../../../shared/client/client';
import type { ResourceRow } from '../../../shared/client/discovery';
import { discover } from '../../../shared/client/discovery';
import { resourcePath } from '../../../shared/client/resource-path';
import type { GroupVersionResource } from '../../../shared/object/object';
import { resourceNameOf } from '../../../shared/object/object';
import type { Replica } from './replicas';

/** What all replicas hold of one resource. */
export interface Comparison {
  readonly resource: string;
  /** At which all were asked. */
  readonly revision: string;
  /** False as well if a replica did not return a list. */
  readonly isEqual: boolean;
  readonly digests: readonly { readonly server: string; readonly digest: string }[];
}

/** The beginning of a digest of a replica that did not return a list. */
export const NO_ANSWER = 'no answer';

/**
 * Digests of the lists of every resource, at a revision that is new when its turn comes: replicas answer such reads from their caches, so
 * that one whose cache differs is seen. Empty if there is no other replica.
 */
export async function compareReplicas(replicas: readonly Replica[]): Promise<readonly Comparison[]> {
  const [first] = replicas;
  if (first === undefined) return [];
  const { resources } = await discover(first.client);
  const others = await servedByOthers(first.client, resources);
  const listed = resources.filter(
    ({ group, version, verbs, isPreferred }) =>
      isPreferred && verbs.includes('list') && !others.has(`${version}.${group}`),
  );
  const found: Comparison[] = [];
  for (const resource of listed) found.push(await compare(resource, first, replicas));
  return found;
}

interface ApiServices {
  readonly items: readonly { readonly metadata: { readonly name: string }; readonly spec?: Spec }[];
}

interface Spec {
  readonly service?: object | null;
}

/** Versions of groups, as `<version>.<group>`, that servers behind the replicas serve: no replica holds their objects, and they may be down. */
async function servedByOthers(
  client: Client,
  resources: readonly ResourceRow[],
): Promise<ReadonlySet<string>> {
  const apiServices = resources.find(
    ({ resource, isPreferred }) => isPreferred && resource === 'apiservices',
  );
  if (apiServices === undefined) return new Set();
  const { items } = (await client.getJson(resourcePath(apiServices, {}))) as ApiServices;
  return new Set(
    items.flatMap(({ metadata, spec }) => ((spec?.service ?? null) === null ? [] : [metadata.name])),
  );
}

async function compare(
  resource: GroupVersionResource,
  first: Replica,
  replicas: readonly Replica[],
): Promise<Comparison> {
  const path = resourcePath(resource, {});
  const newest = (await first.client.getJson(`${path}?limit=1`)) as {
    readonly metadata: { readonly resourceVersion: string };
  };
  const { resourceVersion: revision } = newest.metadata;
  const digests = await Promise.all(
    replicas.map(async ({ server, client }) => ({ server, digest: await digestOf(client, path, revision) })),
  );
  const [one] = digests;
  const isEqual = digests.every(({ digest }) => digest === one?.digest && !digest.startsWith(NO_ANSWER));
  return { resource: resourceNameOf(resource), revision, isEqual, digests };
}

async function digestOf(client: Client, path: string, revision: string): Promise<string> {
  const query = `?resourceVersion=${revision}&resourceVersionMatch=Exact`;
  const { code, body } = await client.request({ method: 'GET', path: path + query });
  return code === 200 ? createHash('sha256').update(body).digest('hex') : `${NO_ANSWER}: ${String(code)}`;
}
