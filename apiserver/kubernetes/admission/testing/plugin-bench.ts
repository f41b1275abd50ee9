import type { StatusError } from '../../../../shared/errors/status-error';
import { apiVersionFromNeutral } from '../../../../shared/names';
import type { ApiObject } from '../../../../shared/object/object';
import { createRegistry } from '../../../engine/registry/registry';
import { DEFAULT_RUNTIME_CONFIG } from '../../../engine/registry/runtime-config';
import { servedDefinitions } from '../../kinds/served';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import type { Endpoint } from '../../../engine/registry/resource';
import { WriteNotes } from '../../../engine/registry/write-notes';
import type { WriteRequest } from '../../../engine/registry/write-request';
import type { ClusterReader, ResourceName } from '../../cluster/cluster-reader';
import type { AdmissionPlugin } from '../plugin';

const registry = createRegistry(servedDefinitions(DEFAULT_RUNTIME_CONFIG), 1);

/** Returns the endpoint of `v1/pods` or `storage.orch/v1/storageclasses`. */
export function endpointOf(path: string): Endpoint {
  const at = path.lastIndexOf('/');
  const [group, version] = apiVersionFromNeutral(path.slice(0, at)).split('/');
  const found =
    version === undefined
      ? registry.endpoint('', group ?? '', path.slice(at + 1))
      : registry.endpoint(group ?? '', version, path.slice(at + 1));
  if (found === undefined) throw new Error(`nothing is served at ${path}`);
  return found;
}

/** What a test sets of a write and of one attempt. */
export type GivenWrite = Partial<Omit<AdmissionAttributes, 'write'> & WriteRequest>;

/** Returns attributes, by default of a creation by an unprivileged user in the namespace `ns`. */
export function attributesOf(path: string, given: GivenWrite): AdmissionAttributes {
  const { operation = 'CREATE', notes = new WriteNotes(), object, oldObject, relyOn, ...asked } = given;
  const endpoint = endpointOf(path);
  const write = {
    endpoint,
    subresource: '',
    namespace: endpoint.row.namespaced ? 'ns' : '',
    name: object?.metadata.name ?? oldObject?.metadata.name ?? '',
    user: { name: 'jane', uid: '', groups: [], extra: {} },
    dryRun: false,
    ...asked,
  };
  return { write, notes, operation, object, oldObject, ...(relyOn === undefined ? {} : { relyOn }) };
}

export interface FakeCluster extends ClusterReader {
  /** How often fresh answers were requested. */
  readonly freshened: () => number;
}

/** A cluster of these objects; `later` exist only after a freshen. */
export function clusterOf(
  objects: readonly (readonly [ResourceName, ApiObject])[] = [],
  later: readonly (readonly [ResourceName, ApiObject])[] = [],
): FakeCluster {
  let freshened = 0;
  const known = <T extends ApiObject>({ group, resource }: ResourceName<T>): readonly T[] =>
    [...objects, ...(freshened > 0 ? later : [])]
      .filter(([of]) => of.group === group && of.resource === resource)
      .map(([, object]) => object as T);
  const list = <T extends ApiObject>(resource: ResourceName<T>, namespace?: string): readonly T[] =>
    known(resource).filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace);
  return {
    get: (resource, name, namespace) =>
      known(resource).find(
        ({ metadata }) =>
          metadata.name === name && (namespace === undefined || metadata.namespace === namespace),
      ),
    guardOf: ({ resource }, { metadata }) => ({
      key: `${resource}/${metadata.name ?? ''}`,
      revision: Number(metadata.resourceVersion),
    }),
    list,
    names: (resource, namespace) => list(resource, namespace).map(({ metadata: { name = '' } }) => name),
    freshen: async () => {
      freshened += 1;
      return Promise.resolve();
    },
    freshened: () => freshened,
  };
}

/** Returns the resulting object, or the message of the refusal. Throws if the plugin does not match. */
export async function outcomeOf(
  plugin: AdmissionPlugin,
  attributes: AdmissionAttributes,
  cluster: ClusterReader = clusterOf(),
): Promise<ApiObject | string | undefined> {
  const { operation } = attributes;
  const { endpoint, subresource } = attributes.write;
  const { group, resource, namespaced } = endpoint.row;
  if (!plugin.concerns({ operation, group, resource, subresource, namespaced })) {
    throw new Error('the plugin is not concerned');
  }
  const { signal } = new AbortController();
  try {
    const mutated = await plugin.mutate?.(attributes, cluster, signal);
    const object = mutated ?? attributes.object;
    await plugin.validate?.({ ...attributes, object }, cluster, signal);
    return object;
  } catch (error) {
    const { status } = error as StatusError;
    return `${String(status.code)} ${status.message ?? ''}`;
  }
}

/** Returns `admitted`, or the message of the refusal. */
export function resultOf(outcome: unknown): string {
  return typeof outcome === 'string' ? outcome : 'admitted';
}
