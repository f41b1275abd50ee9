import { goNumber } from '../../../shared/structural/go-text';
import { stringifyExact } from '../../../shared/object/exact-text';
import type { Misfit } from '../../../shared/schema/decode-error';
import { A_MAP } from '../../../shared/schema/plan';
import {
  base64Words,
  intOrStringJsonWords,
  noQuantityWords,
  timeJsonWords,
} from '../../../shared/schema/reader-words/scalar-words';
import { A_MICRO_TIME, A_QUANTITY, A_TIME, BASE64_TEXT, INT_OR_STRING } from '../../../shared/schema/scalars';
import { ownKeyMap } from '../../../shared/own-key-map';

/**
 * What is wrong with a type in the words of upstream's converter, which makes objects of what a strategic merge patch has merged; undefined
 * where it has words of its own.
 */
export function restoreText({ wanted, given }: Misfit): string | undefined {
  const own = OWN_READERS.get(wanted)?.(given);
  if (own !== undefined) return own;
  const kind = kindOf(given);
  const composite = COMPOSITES.get(wanted);
  if (composite !== undefined) return `${composite} ${kind}`;
  const scalar = SCALARS.get(wanted);
  if (scalar === undefined) return undefined;
  const isConverted =
    (kind === 'int64' && scalar === 'string') || (kind === 'float64' && scalar.startsWith('int'));
  return isConverted ? `cannot convert ${kind} to ${scalar}` : `unrecognized type: ${scalar}`;
}

/** What these read themselves comes to them as JSON. */
const OWN_READERS = ownKeyMap<(given: unknown) => string | undefined>({
  [A_TIME]: (given) => timeJsonWords(stringifyExact(given), '2006-01-02T15:04:05Z07:00'),
  [A_MICRO_TIME]: (given) => timeJsonWords(stringifyExact(given), '2006-01-02T15:04:05.000000Z07:00'),
  [A_QUANTITY]: (given) => noQuantityWords(typeof given === 'string' ? given.trim() : stringifyExact(given)),
  [INT_OR_STRING]: (given) => intOrStringJsonWords(stringifyExact(given)),
  [BASE64_TEXT]: (given) =>
    typeof given === 'string' ? jsonBase64Words(given) : `cannot restore slice from ${kindOf(given)}`,
});

function jsonBase64Words(given: string): string | undefined {
  const words = base64Words(given);
  return words && `error decoding from json: ${words}`;
}

const COMPOSITES = ownKeyMap<string>({
  'an object': 'cannot restore struct from:',
  [A_MAP]: 'cannot restore map from',
  'a list': 'cannot restore slice from',
});

const SCALARS = ownKeyMap<string>({
  'a string': 'string',
  'a boolean': 'bool',
  'an integer of 32 bits': 'int32',
  'an integer of 64 bits': 'int64',
});

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'slice';
  if (typeof value === 'object') return 'map';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number' || typeof value === 'bigint')
    return typeof value === 'bigint' || Number.isSafeInteger(value) ? 'int64' : 'float64';
  return 'string';
}

/** `%+v` of a document: texts bare, fields by their names. */
export function goDocument(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goDocument).join(' ')}]`;
  if (typeof value === 'object') {
    const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return `map[${fields.map(([name, each]) => `${name}:${goDocument(each)}`).join(' ')}]`;
  }
  if (typeof value === 'number' || typeof value === 'bigint') return goNumber(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}
