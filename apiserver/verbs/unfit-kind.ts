import { goQuote } from '../../shared/errors/go-quote';
import type { ResourceRow } from '../../shared/api/resources';
import { SCALE } from '../kinds/autoscaling/scale';
import type { Endpoint } from '../registry/resource';
import { GROUP, SCHEME } from '../../shared/names';
import { messageTypeOfKind } from '../../shared/schema/types';
import { wordTable } from '../../shared/word-table';

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
  const isOfCustom = stored.custom !== undefined;
  const scheme = isOfCustom ? SCHEME.scales : schemeOf(row.group);
  const isKnown = isOfCustom
    ? isScale(given)
    : messageTypeOfKind({ group: given.group, version, kind: given.kind }) !== undefined &&
      schemeOf(given.group) === scheme;
  if (!isKnown) {
    return `no kind ${goQuote(given.kind)} is registered for version ${goQuote(given.version)} in scheme ${goQuote(scheme)}`;
  }
  if (given.kind === row.kind && !isOfCustom) return undefined;
  const wanted = isOfCustom ? row.version : packageOf(row);
  return `converting (${version}.${given.kind}) to (${wanted}.${row.kind}): unknown conversion`;
}

/** The table of kinds that upstream reads the scales of custom resources by has all versions of them, and no way from one to another. */
function isScale({ kind, version }: GivenKind): boolean {
  return kind === SCALE.kind && SCALE_VERSIONS.includes(version);
}

const SCALE_VERSIONS: readonly string[] = [
  `${GROUP.autoscaling}/v1`,
  `${GROUP.extensions}/v1beta1`,
  `${GROUP.apps}/v1beta1`,
  `${GROUP.apps}/v1beta2`,
];

/** The table of kinds that serves the group. */
function schemeOf(group: string): string {
  return SCHEMES.get(group) ?? SCHEME.builtIn;
}

const SCHEMES = wordTable<string>({
  [GROUP.apiextensions]: SCHEME.apiextensions,
  [GROUP.apiregistration]: SCHEME.apiregistration,
});

/** The package of the row's internal version. */
function packageOf({ group, kind }: ResourceRow): string {
  return PACKAGE_OF_KIND.get(kind) ?? PACKAGES.get(group) ?? group.split('.')[0] ?? group;
}

/** Kinds that are served below another group's resources. */
const PACKAGE_OF_KIND = wordTable<string>({
  Event: 'core',
  Eviction: 'policy',
  Scale: 'autoscaling',
  TokenRequest: 'authentication',
});

/** Where that is not the first word of the group. */
const PACKAGES = wordTable<string>({
  [GROUP.core]: 'core',
  [GROUP.extensions]: 'networking',
  [GROUP.apiserverinternal]: 'apiserverinternal',
});
