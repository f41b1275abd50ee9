import { dump, loadAll, YAMLException } from 'js-yaml';
import { DecodeError, JSON_DEPTH_MAX } from '../../../shared/schema/decode';
import { YAML_OUTPUT_SCHEMA, YAML_SCHEMA } from './yaml-schema';

/** Maximum depth of a document; the parser recurses. */
const YAML_DEPTH_MAX = 500;
/** Maximum number of keys that merges (`<<`) may copy in one document. */
const MERGED_KEYS_MAX = 10_000;
/** Aliases of a document may add this much to one value and one character per byte, against billion laughs attacks. */
const ALIASED_MAX = 64 * 1024;

/** Documented options that the published types lack. */
export const LOAD_OPTIONS = {
  schema: YAML_SCHEMA,
  // As in JSON, the last of duplicate keys is used.
  json: true,
  maxDepth: YAML_DEPTH_MAX,
  maxTotalMergeKeys: MERGED_KEYS_MAX,
};

/**
 * Parses one YAML document to JSON values; further documents must be empty. Integers of more than 53 bits become
 * bigints. Throws DecodeError for a syntax error, invalid UTF-8, numbers that JSON does not have, too much nesting,
 * and excessive aliasing.
 */
export function parseYaml(bytes: Buffer): unknown {
  let value: unknown;
  try {
    value = onlyDocument(
      loadAll(new TextDecoder('utf-8', { fatal: true }).decode(bytes), null, LOAD_OPTIONS),
    );
  } catch (error) {
    const why = error instanceof YAMLException ? `${error.reason}${placeOf(error)}` : String(error);
    throw new DecodeError(`yaml: ${why}`, { cause: error });
  }
  new Weight(2 * bytes.length + ALIASED_MAX).add(value);
  return value ?? null;
}

/** Upstream silently drops all documents after the first; this server drops only empty ones. */
function onlyDocument([first, ...others]: readonly unknown[]): unknown {
  if (others.some((each) => each !== undefined && each !== null)) {
    throw new YAMLException('expected a single document in the stream, but found more');
  }
  return first;
}

function placeOf(error: YAMLException): string {
  // The library’s types promise a mark; errors of the whole document have none.
  const mark = error.mark as YAMLException['mark'] | undefined;
  return mark === undefined ? '' : ` in line ${String(mark.line + 1)}`;
}

/** Counts values and characters with all aliases expanded. */
class Weight {
  #left: number;

  constructor(max: number) {
    this.#left = max;
  }

  add(value: unknown, depth = 0): void {
    if (depth > JSON_DEPTH_MAX) throw new DecodeError('yaml: aliases are nested too deep');
    this.#take(1);
    if (typeof value === 'string') this.#take(value.length);
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw new DecodeError(`yaml: unsupported value: ${String(value)}`);
    }
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      for (const each of value) this.add(each, depth + 1);
      return;
    }
    for (const [key, each] of Object.entries(value)) {
      this.#take(key.length);
      this.add(each, depth + 1);
    }
  }

  #take(weight: number): void {
    this.#left -= weight;
    if (this.#left < 0) throw new DecodeError('yaml: document contains excessive aliasing');
  }
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
