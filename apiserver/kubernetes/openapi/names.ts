import type { GroupVersion } from '../../../shared/object/object';
import { GROUP } from '../../../shared/names';
import { ownKeyMap } from '../../../shared/own-key-map';

/** What the groups of this dialect end in, from a group that has nothing else behind its own word. */
const GROUP_SUFFIX = GROUP.meta.slice(GROUP.meta.indexOf('.'));
/** The same, reversed as in a package of a program: the beginning of every definition's name. */
const PREFIX = GROUP_SUFFIX.split('.')
  .filter((part) => part !== '')
  .toReversed()
  .join('.');

/** Where packages of the schema stand that are no API group of `api`. */
const HOMES = ownKeyMap<string>({
  apiextensions: 'apiextensions-apiserver.pkg.apis.apiextensions',
  apiregistration: 'kube-aggregator.pkg.apis.apiregistration',
  intstr: 'apimachinery.pkg.util.intstr',
  meta: 'apimachinery.pkg.apis.meta',
  resource: 'apimachinery.pkg.api.resource',
  runtime: 'apimachinery.pkg.runtime',
  version: 'apimachinery.pkg.version',
});

/**
 * The name of a definition, from that of its message: `core/v1.Pod` is `…api.core.v1.Pod`. Custom resources are known by their group, which
 * always has a dot: `example.com/v1.Thing` is `com.example.v1.Thing`.
 */
export function definitionName(message: string): string {
  const [packageName = '', rest] = message.split('/');
  const dot = packageName.indexOf('.');
  if (rest !== undefined && dot >= 0) return `${packageName.split('.').toReversed().join('.')}.${rest}`;
  // `resource.Quantity`: a package without versions.
  if (rest === undefined) return `${PREFIX}.${homeOf(packageName.slice(0, dot))}${packageName.slice(dot)}`;
  return `${PREFIX}.${homeOf(packageName)}.${rest}`;
}

/** Custom kinds are known by the name of their group, built-in ones by that of their package. */
export function customMessage({ group, version }: GroupVersion, kind: string): string {
  return `${group}/${version}.${kind}`;
}

function homeOf(packageName: string): string {
  return HOMES.get(packageName) ?? `api.${packageName}`;
}

/** `rbacAuthorization`, `core`: a group as it stands in tags. */
export function groupTag(group: string): string {
  const word = pascal(groupWords(group));
  return word.charAt(0).toLowerCase() + word.slice(1);
}

/** `RbacAuthorizationV1`: a group version as it stands in the ids of operations. */
export function groupVersionId(group: string, version: string): string {
  return pascal([...groupWords(group), version]);
}

/** `RbacAuthorization`. */
export function groupId(group: string): string {
  return pascal(groupWords(group));
}

export function pascal(words: readonly string[]): string {
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

function groupWords(group: string): readonly string[] {
  if (group === '') return ['core'];
  return (group.endsWith(GROUP_SUFFIX) ? group.slice(0, -GROUP_SUFFIX.length) : group).split(/[.-]/);
}
