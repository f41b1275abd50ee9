import type { StoredValue } from '../../storage/backend';
import { valueOf } from '../../storage/backend';
import type { CacheServices } from '../context';
import type { CachedResource } from './entry';
import { inHubForm } from './entry';
import type { CacheEntry, EntryFacts } from './entry-codec';
import { decodeEntry } from './entry-codec';
import { contentOfStored } from '../entry-layout';
import type { Slabs } from './slab';

/** Decodes a stored value. Without slabs the entry gets its own memory. Undefined, logged and counted, if it cannot be decoded. */
export function decodeStored(
  resource: CachedResource,
  { prefix, log, counters, recent, decoded }: CacheServices,
  stored: StoredValue,
  { key, revision, slabs }: { readonly key: string; readonly revision: number; readonly slabs?: Slabs },
): CacheEntry | undefined {
  try {
    const absolute = `${prefix}/${resource.keyPrefix}${key}`;
    const plain = inHubForm(resource, valueOf(stored));
    const found = decoded?.get(plain);
    // A definition may have got selectable fields since.
    const known = found !== undefined && hasFields(found, resource) ? found : undefined;
    const parsed = known === undefined ? recent.findParsed(absolute, plain) : undefined;
    const entry = decodeEntry(resource, { key, plain, revision, parsed, known }, slabs);
    const { labels, fields, uid } = entry;
    if (known === undefined && contentOfStored(plain) !== undefined)
      decoded?.set(plain, { labels, fields, uid });
    return entry;
  } catch (error) {
    counters.undecodable += 1;
    log.error(
      { resource: resource.name, key, revision, error },
      'failed to decode a stored object; it is skipped',
    );
    return undefined;
  }
}

function hasFields({ fields }: EntryFacts, { fieldPaths }: CachedResource): boolean {
  return fieldPaths.every((path) => fields[path] !== undefined);
}
