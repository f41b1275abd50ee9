import { createHash } from 'node:crypto';
import { preferredVersion } from '../api/groups';
import { forEachLimited } from '../concurrency/for-each-limited';
import { StatusError } from '../errors/status-error';
import type { GroupVersionResource } from '../object/object';
import type { Client } from './client';
import { ConnectionError } from './connection-error';
import type { CallOptions } from './options';

export interface ResourceRow extends GroupVersionResource {
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  /** Whether this is the version its group prefers. */
  readonly isPreferred: boolean;
  /** Set if discovery shows that objects of a custom resource are stored in this version. */
  readonly isStored?: true;
}

export interface GroupVersionFailure {
  /** `group/version` as the server spells it. */
  readonly groupVersion: string;
  readonly error: Error;
}

export interface Discovery {
  /** Every resource in every version, the preferred version of a group first. */
  readonly resources: readonly ResourceRow[];
  /** Subresources; `resource` is `pods/status`. */
  readonly subresources: readonly ResourceRow[];
  /** Group versions that did not answer, such as those of an unavailable extension API server: their resources are unknown. */
  readonly failures: readonly GroupVersionFailure[];
  /** Invalid group version names, as the server spelled them. */
  readonly malformed: readonly string[];
}

interface ApiResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs?: readonly string[] | null;
  readonly group?: string;
  readonly version?: string;
  readonly storageVersionHash?: string;
}

interface Group {
  readonly name: string;
  readonly versions: readonly { readonly groupVersion: string; readonly version: string }[];
  readonly preferredVersion?: { readonly groupVersion: string };
}

interface Place {
  readonly path: string;
  readonly group: string;
  readonly version: string;
  readonly groupVersion: string;
  readonly isPreferred: boolean;
}

/** Custom resources may come in hundreds of groups, and several controllers discover at once. */
const PARALLEL_READS = 16;

/** Discovers all resources. Throws if a root document fails; failures of single group versions are in `failures`. */
export async function discover(client: Client, options: CallOptions = {}): Promise<Discovery> {
  const [core, groups] = await Promise.all([
    client.getJson('/api', options) as Promise<{ versions?: readonly string[] }>,
    client.getJson('/apis', options) as Promise<{ groups?: readonly Group[] | null }>,
  ]);
  const malformed: string[] = [];
  const places: Place[] = (core.versions ?? []).map((version, index) => ({
    path: `/api/${version}`,
    group: '',
    version,
    groupVersion: version,
    isPreferred: index === 0,
  }));
  for (const group of groups.groups ?? []) {
    for (const place of placesOf(group)) {
      if (place.groupVersion === `${place.group}/${place.version}`) places.push(place);
      else malformed.push(place.groupVersion);
    }
  }
  const answers: (ResourceRow[] | GroupVersionFailure)[] = [];
  await forEachLimited(places.entries(), PARALLEL_READS, async ([at, place]) => {
    answers[at] = await resourcesOf(client, place, options);
  });
  const rows = answers.flatMap((answer) => (Array.isArray(answer) ? answer : []));
  return {
    resources: rows.filter((row) => !row.resource.includes('/')),
    subresources: rows.filter((row) => row.resource.includes('/')),
    failures: answers.flatMap((answer) => (Array.isArray(answer) ? [] : [answer])),
    malformed,
  };
}

/**
 * Returns each resource once, for metadata-only clients: in its storage version, which needs no conversion, else in the preferred
 * version, else in the first one.
 */
export function metadataResources(resources: readonly ResourceRow[]): readonly ResourceRow[] {
  const chosen = new Map<string, ResourceRow>();
  for (const row of resources) {
    const key = `${row.group}/${row.resource}`;
    const known = chosen.get(key);
    if (known === undefined || rankOf(row) > rankOf(known)) chosen.set(key, row);
  }
  return [...chosen.values()];
}

function rankOf({ isStored, isPreferred }: ResourceRow): number {
  if (isStored === true) return 2;
  return isPreferred ? 1 : 0;
}

function placesOf(group: Group): Place[] {
  const preferred = group.preferredVersion?.groupVersion ?? group.versions[0]?.groupVersion;
  const places = group.versions.map(({ groupVersion, version }) => ({
    path: `/apis/${groupVersion}`,
    group: group.name,
    version,
    groupVersion,
    isPreferred: groupVersion === preferred,
  }));
  return [...places.filter((place) => place.isPreferred), ...places.filter((place) => !place.isPreferred)];
}

async function resourcesOf(
  client: Client,
  place: Place,
  options: CallOptions,
): Promise<ResourceRow[] | GroupVersionFailure> {
  try {
    const document = (await client.getJson(place.path, options)) as {
      resources?: readonly ApiResource[] | null;
    };
    return (document.resources ?? []).map((resource) => ({
      group: place.group,
      version: place.version,
      resource: resource.name,
      kind: resource.kind,
      namespaced: resource.namespaced,
      verbs: resource.verbs ?? [],
      isPreferred: place.isPreferred,
      ...(isStoredVersion(place, resource) ? { isStored: true as const } : {}),
    }));
  } catch (error) {
    if (!(error instanceof StatusError) && !(error instanceof ConnectionError)) throw error;
    return { groupVersion: place.groupVersion, error };
  }
}

const HASH_BYTES = 8;

/**
 * The published hash covers group, version and kind. Built-in kinds keep their preferred version: the server converts them itself, and
 * some storage versions are deprecated.
 */
function isStoredVersion({ group, version }: Place, { kind, storageVersionHash = '' }: ApiResource): boolean {
  if (storageVersionHash === '' || preferredVersion(group) !== undefined) return false;
  const digest = createHash('sha256').update(`${group}/${version}/${kind}`).digest();
  return digest.subarray(0, HASH_BYTES).toString('base64') === storageVersionHash;
}
