import { entryOfStored } from '../watch-cache/entry-layout';
import type { Source } from './source';

/**
 * Returns the result of a write: the stored bytes with the new resourceVersion spliced in, without encoding the
 * object again.
 */
export function writtenSource({
  plain,
  revision,
}: {
  readonly plain: Buffer;
  readonly revision: number;
}): Source {
  return { bytes: entryOfStored(plain, revision), transient: true };
}
