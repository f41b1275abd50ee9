import { goQuote } from '../../../shared/errors/go-quote';
import type { ResourceRow } from '../../../shared/api/resources';
import { RESOURCES } from '../../../shared/api/resources';
import { SCALE } from '../../kubernetes/kinds/autoscaling/scale';
import type { Endpoint } from '../registry/resource';
import { GROUP, SCHEME } from '../../../shared/names';
import { messageTypeOfKind } from '../../../shared/schema/types';
import { ownKeyMap } from '../../../shared/own-key-map';

/** A kind that a client names, and its version with and without the group. */
interface GivenKind {
  readonly kind: string;
  readonly version: string;
  readonly group: string;
}

/**
 * Why an object of this kind cannot be taken for one of the row's, in the words of v1.21: it knows the kind and cannot convert it, or does not
 * know it where it serves the row. Undefined for another version of the row's own kind.
 */
export function unfitKindWords(
  given: GivenKind,
  { row, stored }: Pick<Endpoint, 'row' | 'stored'>,
): string | undefined {
  const [version = ''] = given.version.split('/').slice(-1);
  if (stored.custom !== undefined) return unfitScaleWords(given, version, row);
  const scheme = schemeOf(row.group);
  if (isKnownBesides(given, version, row)) return inconvertible(`v1.${given.kind}`, packageOf(row), row);
  const isKnown = messageTypeOfKind({ group: given.group, version, kind: given.kind }) !== undefined;
  if (!isKnown || schemeOf(given.group) !== scheme) return unregistered(given, scheme);
  if (given.kind === row.kind) return undefined;
  return inconvertible(`${version}.${given.kind}`, packageOf(row), row);
}

/** The table of kinds that upstream reads the scales of custom resources by has all versions of them, and no way from one to another. */
function unfitScaleWords(given: GivenKind, version: string, row: ResourceRow): string {
  const isScale = given.kind === SCALE.kind && SCALE_VERSIONS.includes(given.version);
  return isScale
    ? inconvertible(`${version}.${given.kind}`, row.version, row)
    : unregistered(given, SCHEME.scales);
}

const SCALE_VERSIONS: readonly string[] = [
  `${GROUP.autoscaling}/v1`,
  `${GROUP.extensions}/v1beta1`,
  `${GROUP.apps}/v1beta1`,
  `${GROUP.apps}/v1beta2`,
];

function unregistered({ kind, version }: GivenKind, scheme: string): string {
  return `no kind ${goQuote(kind)} is registered for version ${goQuote(version)} in scheme ${goQuote(scheme)}`;
}

function inconvertible(type: string, wanted: string, { kind }: ResourceRow): string {
  return `converting (${type}) to (${wanted}.${kind}): unknown conversion`;
}

/** Whether upstream knows the kind without having it in a table of ours: in any version, in all that it serves, or in those of core. */
function isKnownBesides({ kind, group }: GivenKind, version: string, row: ResourceRow): boolean {
  if (OF_NO_VERSION.has(kind)) return true;
  if (group === GROUP.core && version === 'v1') {
    return OF_EVERY_VERSION.has(kind) || (OF_CORE.has(kind) && schemeOf(row.group) === SCHEME.builtIn);
  }
  if (!OF_EVERY_VERSION.has(kind) || schemeOf(group) !== schemeOf(row.group)) return false;
  return RESOURCES.some((each) => each.group === group && each.version === version);
}

const OF_NO_VERSION: ReadonlySet<string> = new Set([
  'APIGroup',
  'APIGroupList',
  'APIResourceList',
  'APIVersions',
  'Status',
]);

const OF_CORE: ReadonlySet<string> = new Set([
  'List',
  'PodLogOptions',
  'PodStatusResult',
  'RangeAllocation',
  'SerializedReference',
]);

const OF_EVERY_VERSION: ReadonlySet<string> = new Set([
  'CreateOptions',
  'DeleteOptions',
  'GetOptions',
  'ListOptions',
  'PatchOptions',
  'UpdateOptions',
  'WatchEvent',
]);

/** The table of kinds that serves the group. */
function schemeOf(group: string): string {
  return SCHEMES.get(group) ?? SCHEME.builtIn;
}

const SCHEMES = ownKeyMap<string>({
  [GROUP.apiextensions]: SCHEME.apiextensions,
  [GROUP.apiregistration]: SCHEME.apiregistration,
});

/** The package of the row's internal version. */
function packageOf({ group, kind }: ResourceRow): string {
  return PACKAGE_OF_KIND.get(kind) ?? PACKAGES.get(group) ?? group.split('.')[0] ?? group;
}

/** Kinds that are served below another group's resources. */
const PACKAGE_OF_KIND = ownKeyMap<string>({
  Event: 'core',
  Eviction: 'policy',
  Scale: 'autoscaling',
  TokenRequest: 'authentication',
});

/** Where that is not the first word of the group. */
const PACKAGES = ownKeyMap<string>({
  [GROUP.core]: 'core',
  [GROUP.extensions]: 'networking',
  [GROUP.apiserverinternal]: 'apiserverinternal',
});
