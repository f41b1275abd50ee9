import { GROUP } from '../../../../shared/names';
import type { GroupVersionKind, GroupVersionResource } from '../../../../shared/object/object';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import type { Endpoint } from '../../../engine/registry/resource';
import { NAMESPACES } from '../../cluster/resources';

/** Returns the request as webhooks and expressions see it, without its objects; `endpoint` is the version that was matched. */
export function requestOf(
  attributes: AdmissionAttributes,
  endpoint: Endpoint,
): Readonly<Record<string, unknown>> & { readonly dryRun: boolean; readonly options: object | null } {
  const { operation } = attributes;
  // A new object has no name until the server generates one.
  const { name, subresource, user, dryRun } = attributes.write;
  const requested = resourceEndpoint(attributes);
  const namespace = namespaceOf(attributes);
  return {
    kind: kindAt(endpoint, subresource),
    resource: resourceAt(endpoint),
    ...(subresource === '' ? {} : { subResource: subresource }),
    requestKind: kindAt(requested, subresource),
    requestResource: resourceAt(requested),
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(name === '' ? {} : { name }),
    ...(namespace === '' ? {} : { namespace }),
    operation,
    userInfo: {
      ...(user.name === '' ? {} : { username: user.name }),
      ...(user.uid === '' ? {} : { uid: user.uid }),
      ...(user.groups.length === 0 ? {} : { groups: user.groups }),
      ...(Object.keys(user.extra).length === 0 ? {} : { extra: user.extra }),
    },
    dryRun,
    options: optionsOf(attributes),
  };
}

const OPTIONS_KIND = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' } as const;

function optionsOf({
  write: { dryRun, fieldManager, deleteOptions },
  operation,
}: AdmissionAttributes): object | null {
  if (operation === 'CONNECT') return null;
  const { dryRun: _flag, ...ofDeletion } = deleteOptions ?? {};
  return {
    kind: OPTIONS_KIND[operation],
    apiVersion: `${GROUP.meta}/v1`,
    ...ofDeletion,
    ...(dryRun ? { dryRun: ['All'] } : {}),
    ...(fieldManager === undefined ? {} : { fieldManager }),
  };
}

/** Returns the endpoint of the resource itself: some subresources have an endpoint of their own kind. */
export function resourceEndpoint({ write: { endpoint, subresource } }: AdmissionAttributes): Endpoint {
  if (subresource === '') return endpoint;
  for (const each of endpoint.versions.values()) {
    if (each.subresources === endpoint.subresources) return each;
  }
  return endpoint;
}

/** Returns the kind of an endpoint or of its subresource. */
export function kindAt({ row, subresources }: Endpoint, subresource: string): GroupVersionKind {
  const { group, version, kind } = subresources.get(subresource) ?? row;
  return { group, version, kind };
}

export function resourceAt({ row: { group, version, resource } }: Endpoint): GroupVersionResource {
  return { group, version, resource };
}

/** Returns the namespace for webhooks: a Namespace's is its own name. */
export function namespaceOf({
  write: {
    endpoint: { row },
    namespace,
    name,
  },
}: AdmissionAttributes): string {
  return row.group === NAMESPACES.group && row.resource === NAMESPACES.resource ? name : namespace;
}
