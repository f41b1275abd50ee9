import { createHash } from 'node:crypto';
import { GROUP } from '../../../shared/names';
import type { StoredResource } from '../../engine/registry/resource';
import { ownKeyMap } from '../../../shared/own-key-map';

/**
 * Kinds that kube-apiserver v1.21 stores in another version than this server does. Clients compare the hash with what they know of that
 * release, so that it speaks of its storage version; this server's own choice shows nowhere.
 */
const PUBLISHED_VERSIONS = ownKeyMap<string>({
  [`${GROUP.apiextensions}/customresourcedefinitions`]: 'v1beta1',
  [`${GROUP.autoscaling}/horizontalpodautoscalers`]: 'v1',
  [`${GROUP.batch}/cronjobs`]: 'v1beta1',
  [`${GROUP.discovery}/endpointslices`]: 'v1beta1',
  [`${GROUP.policy}/poddisruptionbudgets`]: 'v1beta1',
});

const HASH_BYTES = 8;

/** `storageVersionHash` of discovery: changes when the stored form of the kind does; the same for all served versions of it. */
export function storageVersionHash({ group, version, resource, kind }: StoredResource): string {
  const published = PUBLISHED_VERSIONS.get(`${group}/${resource}`) ?? version;
  const digest = createHash('sha256').update(`${group}/${published}/${kind}`).digest();
  return digest.subarray(0, HASH_BYTES).toString('base64');
}
