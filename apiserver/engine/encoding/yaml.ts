import { dump } from 'js-yaml';
import { DecodeError, JSON_DEPTH_MAX } from '../../../shared/schema/decode';
import type { LoopBounds } from '../request/loop-bounds';
import { TooLargeHereError } from '../request/loop-bounds';
import { YamlError } from './yaml/cursor';
import { parseDocument } from './yaml/parser';
import type { ConversionOptions } from './yaml/values';
import { ExcessiveAliasingError, toJson, VALUE_WEIGHT } from './yaml/values';
import { YAML_OUTPUT_SCHEMA } from './yaml-schema';

/**
 * Largest weight that aliases add to a document, against billion laughs attacks. It allows about as many values as
 * upstream (400,000), and as many characters as a body may have.
 */
const ALIASED_WEIGHT_MAX = 3 * 1024 * 1024;
/** The same on the event loop. A heavier document is offloaded. */
const ALIASED_WEIGHT_MAX_HERE = 16 * 1024;

/**
 * Parses one document of YAML 1.1 to the JSON value that upstream's library makes of it; further documents must be empty.
 * Integers of more than 53 bits become bigints. Throws DecodeError for a syntax error, invalid text, what JSON does not have,
 * too much nesting, and excessive aliasing. With `bounds`, throws TooLargeHereError for a document with many aliases.
 */
export function parseYaml(bytes: Buffer, bounds?: LoopBounds): unknown {
  const aliasedMax = bounds === undefined ? ALIASED_WEIGHT_MAX : ALIASED_WEIGHT_MAX_HERE;
  try {
    return read(bytes, aliasedMax);
  } catch (error) {
    if (error instanceof ExcessiveAliasingError && bounds !== undefined)
      throw new TooLargeHereError('a document with many aliases');
    if (!(error instanceof YamlError)) throw error;
    const place = error.line === undefined ? '' : `line ${String(error.line)}: `;
    throw new DecodeError(`yaml: ${place}${error.message}`, { cause: error });
  }
}

/** Limit of reported keys. */
const DUPLICATES_MAX = 100;

/**
 * Returns the paths (`spec.ports[0].port`) of duplicate keys in a valid document, of which aliases add no more than
 * `parseYaml` allows. Parses the document again; only strict field validation calls it.
 */
export function duplicateYamlKeys(bytes: Buffer): readonly string[] {
  const duplicates: string[] = [];
  read(bytes, ALIASED_WEIGHT_MAX, (path) => {
    if (duplicates.length < DUPLICATES_MAX) duplicates.push(path);
  });
  return duplicates;
}

function read(bytes: Buffer, aliasedMax: number, onDuplicate?: ConversionOptions['onDuplicate']): unknown {
  const root = parseDocument(decodeText(bytes), JSON_DEPTH_MAX);
  if (root === undefined) return null;
  const weightMax = VALUE_WEIGHT * (bytes.length + 1) + aliasedMax;
  return toJson(root, { depthMax: JSON_DEPTH_MAX, weightMax, ...(onDuplicate && { onDuplicate }) });
}

/** Matches characters that no document may contain. */
// eslint-disable-next-line no-control-regex
const CONTROL = /[^\t\n\r\x20-\x7e\x85\xa0-\ufffd]/;

/** UTF-16 is recognized by its byte order mark, which is dropped; anything else is UTF-8. */
function decodeText(bytes: Buffer): string {
  const mark = bytes.length < 2 ? 0 : bytes.readUInt16BE(0);
  const encoding = mark === 0xfffe ? 'utf-16le' : mark === 0xfeff ? 'utf-16be' : 'utf-8';
  let text: string;
  try {
    text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (error) {
    throw new YamlError(`invalid ${encoding.toUpperCase()}: ${String(error)}`);
  }
  if (CONTROL.test(text)) throw new YamlError('control characters are not allowed');
  return text;
}

const OUTPUT_OPTIONS = {
  schema: YAML_OUTPUT_SCHEMA,
  sortKeys: true,
  noArrayIndent: true,
  noRefs: true,
  lineWidth: -1,
};

/** The library writes a key of more than a thousand characters after a question mark. A text value may match too. */
const MARKED_KEY = /^[ -]*\? /m;

/** Formats JSON values as YAML in the style of the Go library: sorted keys, lists not indented, no folded lines. */
export function yamlOf(value: unknown): string {
  const text = dump(value, OUTPUT_OPTIONS);
  // Below such a key, the library writes invalid YAML for a list that is not indented.
  return MARKED_KEY.test(text) ? dump(value, { ...OUTPUT_OPTIONS, noArrayIndent: false }) : text;
}
