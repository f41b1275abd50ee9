import type { APIResource } from '../../../../shared/api/types/meta-v1';
import type {
  APIResourceDiscovery,
  APISubresourceDiscovery,
  APIVersionDiscovery,
} from '../../../../shared/api/types/apidiscovery-v2';
import type { GroupVersion, GroupVersionKind } from '../../../../shared/object/object';

/** A version as aggregated discovery lists it, with metadata of its APIService. */
export interface OtherVersion extends GroupVersion {
  readonly groupPriorityMinimum: number;
  readonly versionPriority: number;
  readonly discovery: APIVersionDiscovery;
}

const NO_KIND: GroupVersionKind = { group: '', version: '', kind: '' };

/**
 * Converts the resources of an APIResourceList. A subresource without its resource gets one without verbs. Throws an Error if the scopes of
 * a resource and its subresource differ (upstream: `ConvertGroupVersionIntoToDiscovery`).
 *
 * @param own the group version of kinds that name none; absent: they have none
 */
export function discoveredResources(
  resources: readonly APIResource[],
  own: GroupVersion = NO_KIND,
): readonly APIResourceDiscovery[] {
  const found = new Map<
    string,
    APIResourceDiscovery & { readonly subresources: APISubresourceDiscovery[] }
  >();
  for (const each of resources) {
    if (each.name.includes('/')) continue;
    const { name, kind, singularName, verbs, shortNames, categories } = each;
    found.set(name, {
      resource: name,
      responseKind: kindOf({ ...each, kind }, own),
      scope: scopeOf(each),
      singularResource: singularName,
      verbs,
      ...(shortNames === undefined ? {} : { shortNames }),
      ...(categories === undefined ? {} : { categories }),
      subresources: [],
    });
  }
  for (const each of resources) {
    const at = each.name.indexOf('/');
    if (at < 0) continue;
    const name = each.name.slice(0, at);
    const scope = scopeOf(each);
    const parent = found.get(name) ?? {
      resource: name,
      responseKind: NO_KIND,
      scope,
      singularResource: '',
      verbs: null,
      subresources: [],
    };
    if (parent.scope !== scope) throw new Error(`the scopes of ${name} and ${each.name} differ`);
    found.set(name, parent);
    parent.subresources.push({
      subresource: each.name.slice(at + 1),
      responseKind: each.kind === '' ? NO_KIND : kindOf(each, own),
      verbs: each.verbs,
    });
  }
  return [...found.values()];
}

function kindOf(
  { group, version, kind }: Pick<APIResource, 'group' | 'version' | 'kind'>,
  own: GroupVersion,
): GroupVersionKind {
  return group === undefined && version === undefined
    ? { group: own.group, version: own.version, kind }
    : { group: group ?? '', version: version ?? '', kind };
}

function scopeOf({ namespaced }: APIResource): string {
  return namespaced ? 'Namespaced' : 'Cluster';
}
