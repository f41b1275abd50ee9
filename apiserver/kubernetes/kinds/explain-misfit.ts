import { goQuote } from '../../../shared/errors/go-quote';
import type { ResourceRow } from '../../../shared/api/resources';
import { RESOURCES } from '../../../shared/api/resources';
import { GROUP, SCHEME } from '../../../shared/names';
import { messageTypeOfKind } from '../../../shared/schema/types';
import { ownKeyMap } from '../../../shared/own-key-map';
import type { GivenKind } from '../../engine/registry/resource';
import { SCALE } from './autoscaling/scale';

/**
 * Why an object of the given kind is none of the row's kind, with the message text of v1.21: it knows the kind and cannot convert it, or it
 * does not know the kind. Undefined for another version of the row's kind.
 */
export function explainMisfit(given: GivenKind, row: ResourceRow): string | undefined {
  const version = shortVersion(given);
  const scheme = schemeOf(row.group);
  if (isKnownBesides(given, version, row)) return inconvertible(`v1.${given.kind}`, packageOf(row), row);
  const isKnown = messageTypeOfKind({ group: given.group, version, kind: given.kind }) !== undefined;
  if (!isKnown || schemeOf(given.group) !== scheme) return unregistered(given, scheme);
  if (given.kind === row.kind) return undefined;
  return inconvertible(`${version}.${given.kind}`, packageOf(row), row);
}

/** The same for the scale of a custom resource. Its scheme in v1.21 has all versions of Scale, and no conversions between them. */
export function explainScaleMisfit(given: GivenKind, row: ResourceRow): string {
  const isScale = given.kind === SCALE.kind && SCALE_VERSIONS.includes(given.version);
  return isScale
    ? inconvertible(`${shortVersion(given)}.${given.kind}`, row.version, row)
    : unregistered(given, SCHEME.scales);
}

function shortVersion({ version }: GivenKind): string {
  return version.slice(version.lastIndexOf('/') + 1);
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

/** Whether upstream knows the kind although our tables do not have it: in any version, in every version, or in core. */
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

/** The scheme of upstream that has the kinds of the group. */
function schemeOf(group: string): string {
  return SCHEMES.get(group) ?? SCHEME.builtIn;
}

const SCHEMES = ownKeyMap<string>({
  [GROUP.apiextensions]: SCHEME.apiextensions,
  [GROUP.apiregistration]: SCHEME.apiregistration,
});

/** The Go package of the row's internal version. */
function packageOf({ group, kind }: ResourceRow): string {
  return PACKAGE_OF_KIND.get(kind) ?? PACKAGES.get(group) ?? group.split('.')[0] ?? group;
}

/** Kinds of subresources that belong to another group than the resource. */
const PACKAGE_OF_KIND = ownKeyMap<string>({
  Event: 'core',
  Eviction: 'policy',
  Scale: 'autoscaling',
  TokenRequest: 'authentication',
});

/** Packages whose name is not the first word of the group. */
const PACKAGES = ownKeyMap<string>({
  [GROUP.core]: 'core',
  [GROUP.extensions]: 'networking',
  [GROUP.apiserverinternal]: 'apiserverinternal',
});
