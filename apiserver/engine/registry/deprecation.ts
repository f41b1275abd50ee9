import type { ResourceRow } from '../../../shared/api/resources';
import { apiVersionOf } from '../../../shared/object/object';

/** The release whose API this server serves. */
const API_RELEASE = { major: 1, minor: 21 } as const;

/** The text of the Warning header for requests to a deprecated version; undefined for one that is not deprecated (yet). */
export function deprecationOf(row: ResourceRow): string | undefined {
  const { deprecated, removed, replacement } = row;
  if (deprecated === undefined || !isReached(deprecated)) return undefined;
  const gone = removed === undefined ? '' : `, unavailable in v${removed}+`;
  const instead = replacement === undefined ? '' : `; use ${apiVersionOf(replacement)} ${replacement.kind}`;
  return `${apiVersionOf(row)} ${row.kind} is deprecated in v${deprecated}+${gone}${instead}`;
}

function isReached(release: string): boolean {
  const [major = 0, minor = 0] = release.split('.').map(Number);
  return major < API_RELEASE.major || (major === API_RELEASE.major && minor <= API_RELEASE.minor);
}
