import { getOwn, isJsonObject } from '../../../shared/object/clone';
import type { DecodeError } from '../../../shared/schema/decode';
import { inOrder, jsonBytesOf, typeMetaWords } from '../../../shared/schema/reader-words/document-words';
import { readerWords } from '../../../shared/schema/reader-words/reader-words';
import { messageType } from '../../../shared/schema/types';
import { tailWords } from '../../../shared/schema/reader-words/byte-walk';

/** What a patch has made of a custom resource, as it is shown, and what is wrong with it. */
export interface CustomMisfit {
  readonly why: string;
  /** Empty for what is too long to be told. */
  readonly shown: string;
}

/** The JSON of a result; undefined where that is too long to be told. */
export type TextOf = () => Buffer | undefined;

/** What upstream says of a result that names no kind, or whose kind or version is no text; undefined where that is not so. */
export function typeMetaMisfit(patched: unknown, textOf: TextOf): CustomMisfit | undefined {
  if (!isJsonObject(patched)) return undefined;
  const words = typeMetaWords(patched);
  if (words !== undefined)
    return misfit(textOf, () => `couldn't get version/kind; json parse error: ${words}`);
  const missing = missingTypeMeta(patched);
  return missing && misfit(textOf, missing);
}

/** The same of what a body holds, whose kind and version are texts or null. Of an empty text the words are shorter. */
export function missingTypeMeta(value: unknown): ((text: string) => string) | undefined {
  if (!isJsonObject(value)) return undefined;
  const kind = getOwn(value, 'kind') ?? '';
  if (kind === '') {
    return (text) => {
      const why = `unmarshalerDecoder: Object 'Kind' is missing`;
      return text === '' ? why : `${why} in '${text}', ${tailWords(Buffer.from(text))}`;
    };
  }
  if (getOwn(value, 'apiVersion') !== null) return undefined;
  return () => '.apiVersion accessor error: <nil> is of the type <nil>, expected string';
}

/** What upstream says of metadata that does not fit: it reads those alone once the JSON has been parsed. */
export function metadataMisfit(patched: unknown, error: DecodeError, textOf: TextOf): CustomMisfit {
  const metadata = isJsonObject(patched) ? getOwn(patched, 'metadata') : undefined;
  return misfit(textOf, (text) => {
    const words = text === '' ? undefined : readerWords(jsonBytesOf(inOrder(metadata ?? null)), OBJECT_META);
    return words ?? error.message;
  });
}

const OBJECT_META = messageType('meta/v1.ObjectMeta');

function misfit(textOf: TextOf, whyOf: (text: string) => string): CustomMisfit {
  const shown = textOf()?.toString() ?? '';
  return { why: whyOf(shown), shown };
}
