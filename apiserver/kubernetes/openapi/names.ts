import type { GroupVersion } from '../../../shared/object/object';
import { GROUP } from '../../../shared/names';
import { ownKeyMap } from '../../../shared/own-key-map';

/** The suffix of the groups of this dialect, taken from a group with only one other label. */
const GROUP_SUFFIX = GROUP.meta.slice(GROUP.meta.indexOf('.'));
/** The reversed suffix, as in a Java package name: the prefix of every definition's name. */
const PREFIX = GROUP_SUFFIX.split('.')
  .filter((part) => part !== '')
  .toReversed()
  .join('.');

/** The locations of schema packages that are not API groups of `api`. */
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
 * Returns the name of a definition from that of its message: `core/v1.Pod` is `…api.core.v1.Pod`. Custom resources are named by their
 * group, which always has a dot: `example.com/v1.Thing` is `com.example.v1.Thing`.
 */
export function definitionName(message: string): string {
  const [packageName = '', rest] = message.split('/');
  const dot = packageName.indexOf('.');
  if (rest !== undefined && dot >= 0) return `${packageName.split('.').toReversed().join('.')}.${rest}`;
  // `resource.Quantity`: a package without versions.
  if (rest === undefined) return `${PREFIX}.${homeOf(packageName.slice(0, dot))}${packageName.slice(dot)}`;
  return `${PREFIX}.${homeOf(packageName)}.${rest}`;
}

/** Returns the message name of a custom kind, which starts with its group; built-in ones start with their package. */
export function customMessage({ group, version }: GroupVersion, kind: string): string {
  return `${group}/${version}.${kind}`;
}

function homeOf(packageName: string): string {
  return HOMES.get(packageName) ?? `api.${packageName}`;
}

/** Returns a group as in tags: `rbacAuthorization`, `core`. */
export function groupTag(group: string): string {
  const word = pascal(groupWords(group));
  return word.charAt(0).toLowerCase() + word.slice(1);
}

/** Returns a group version as in operation ids: `RbacAuthorizationV1`. */
export function groupVersionId(group: string, version: string): string {
  return pascal([...groupWords(group), version]);
}

/** Returns a group as in operation ids: `RbacAuthorization`. */
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
