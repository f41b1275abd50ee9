import { getOwn, isJsonObject } from '../../shared/object/clone';
import type { DecodeError } from '../../shared/schema/decode';
import { inOrder, jsonBytesOf, typeMetaWords } from '../../shared/schema/reader-words/document-words';
import { DOCUMENT_BYTES_MAX, readerWords } from '../../shared/schema/reader-words/reader-words';
import { messageType } from '../../shared/schema/types';
import { tailWords } from '../../shared/schema/reader-words/byte-walk';

/** What a patch has made of a custom resource, as it is shown, and what is wrong with it. */
export interface CustomMisfit {
  readonly why: string;
  /** Empty for what is too long to be told. */
  readonly shown: string;
}

/** What upstream says of a result that names no kind, or whose kind or version is no text; undefined where that is not so. */
export function typeMetaMisfit(patched: unknown): CustomMisfit | undefined {
  if (!isJsonObject(patched)) return undefined;
  const words = typeMetaWords(patched);
  if (words !== undefined)
    return misfit(patched, () => `couldn't get version/kind; json parse error: ${words}`);
  const kind = getOwn(patched, 'kind') ?? '';
  if (kind === '') {
    return misfit(patched, (text) => {
      const why = `unmarshalerDecoder: Object 'Kind' is missing`;
      return text === '' ? why : `${why} in '${text}', ${tailWords(Buffer.from(text))}`;
    });
  }
  if (getOwn(patched, 'apiVersion') !== null) return undefined;
  return misfit(patched, () => '.apiVersion accessor error: <nil> is of the type <nil>, expected string');
}

/** What upstream says of metadata that does not fit: it reads those alone once the JSON has been parsed. */
export function metadataMisfit(patched: unknown, error: DecodeError): CustomMisfit {
  const metadata = isJsonObject(patched) ? getOwn(patched, 'metadata') : undefined;
  return misfit(patched, (text) => {
    const words = text === '' ? undefined : readerWords(jsonBytesOf(inOrder(metadata ?? null)), OBJECT_META);
    return words ?? error.message;
  });
}

const OBJECT_META = messageType('meta/v1.ObjectMeta');

function misfit(patched: unknown, whyOf: (text: string) => string): CustomMisfit {
  const json = jsonBytesOf(inOrder(patched));
  const shown = json.length > DOCUMENT_BYTES_MAX ? '' : json.toString();
  return { why: whyOf(shown), shown };
}
