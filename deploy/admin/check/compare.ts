import { createHash } from 'node:crypto';
import type { Client } from '../../../shared/client/client';
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
  readonly isEqual: boolean;
  readonly digests: readonly { readonly server: string; readonly digest: string }[];
}

/**
 * Digests of the lists of every resource, at a revision that is new when its turn comes: replicas answer such reads from their caches, so
 * that one whose cache differs is seen. Empty where there is nobody to compare.
 */
export async function compareReplicas(replicas: readonly Replica[]): Promise<readonly Comparison[]> {
  const [first] = replicas;
  if (first === undefined) return [];
  const { resources } = await discover(first.client);
  const listed = resources.filter(({ verbs, isPreferred }) => isPreferred && verbs.includes('list'));
  const found: Comparison[] = [];
  for (const resource of listed) found.push(await compare(resource, first, replicas));
  return found;
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
  const isEqual = new Set(digests.map(({ digest }) => digest)).size === 1;
  return { resource: resourceNameOf(resource), revision, isEqual, digests };
}

async function digestOf(client: Client, path: string, revision: string): Promise<string> {
  const query = `?resourceVersion=${revision}&resourceVersionMatch=Exact`;
  const { code, body } = await client.request({ method: 'GET', path: path + query });
  return code === 200 ? createHash('sha256').update(body).digest('hex') : `no answer: ${String(code)}`;
}
