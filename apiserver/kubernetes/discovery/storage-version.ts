import { createHash } from 'node:crypto';
import { GROUP } from '../../../shared/names';
import type { StoredResource } from '../../engine/registry/resource';
import { ownKeyMap } from '../../../shared/own-key-map';

/**
 * Kinds that kube-apiserver v1.21 stores in another version than this server. Clients compare the hash with the value of that release, so
 * it is computed from upstream's storage version.
 */
const PUBLISHED_VERSIONS = ownKeyMap<string>({
  [`${GROUP.apiextensions}/customresourcedefinitions`]: 'v1beta1',
  [`${GROUP.autoscaling}/horizontalpodautoscalers`]: 'v1',
  [`${GROUP.batch}/cronjobs`]: 'v1beta1',
  [`${GROUP.discovery}/endpointslices`]: 'v1beta1',
  [`${GROUP.policy}/poddisruptionbudgets`]: 'v1beta1',
});

const HASH_BYTES = 8;

/** The `storageVersionHash` of discovery. It changes with the stored form of the kind and is the same for all served versions. */
export function storageVersionHash({ group, version, resource, kind }: StoredResource): string {
  const published = PUBLISHED_VERSIONS.get(`${group}/${resource}`) ?? version;
  const digest = createHash('sha256').update(`${group}/${published}/${kind}`).digest();
  return digest.subarray(0, HASH_BYTES).toString('base64');
}
