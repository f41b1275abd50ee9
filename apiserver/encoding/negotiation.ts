import { MEDIA_TYPE } from '../../shared/names';
import { StatusError } from '../../shared/errors/status-error';
import type { MediaRange } from './media-type';
import { parseAccept, parseMediaType } from './media-type';

/** The media types answers can be written in. A browser's or curl's wildcard gets the first. */
const OFFERED: readonly string[] = [MEDIA_TYPE.json];

/**
 * The media type of the answer. Parameters that ask for another shape (`as=Table`) are not offered here, so that such an element
 * is passed over for the next one in the header. Throws NotAcceptable (406) when nothing fits.
 */
export function negotiateAnswer(accept: string | undefined): string {
  if (accept === undefined || accept.trim() === '') return MEDIA_TYPE.json;
  for (const range of parseAccept(accept)) {
    const offered = OFFERED.find((each) => accepts(range, each));
    if (offered !== undefined) return offered;
  }
  throw new StatusError(
    'NotAcceptable',
    `only the following media types are accepted: ${OFFERED.join(', ')}`,
  );
}

function accepts(range: MediaRange, offered: string): boolean {
  if (range.parameters.has('as')) return false;
  const [type, subtype] = offered.split('/');
  if (range.type === '*' && range.subtype === '*') return true;
  return range.type === type && (range.subtype === '*' || range.subtype === subtype);
}

/** Checks a request body's Content-Type against what the verb reads. Throws UnsupportedMediaType (415). An absent one is JSON. */
export function negotiateBody(contentType: string | undefined, supported: readonly string[]): string {
  const parsed = parseMediaType(contentType ?? MEDIA_TYPE.json);
  const essence = parsed === undefined ? '' : `${parsed.type}/${parsed.subtype}`;
  if (supported.includes(essence)) return essence;
  throw new StatusError(
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${supported.join(', ')}`,
  );
}
