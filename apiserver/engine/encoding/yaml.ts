import { dump, loadAll, YAMLException } from 'js-yaml';
import { DecodeError, JSON_DEPTH_MAX } from '../../../shared/schema/decode';
import { YAML_OUTPUT_SCHEMA, YAML_SCHEMA } from './yaml-schema';

/** A document is nested at most so deep; the parser recurses. */
const YAML_DEPTH_MAX = 500;
/** Keys that merges (`<<`) may copy in one document. */
const MERGED_KEYS_MAX = 10_000;
/**
 * A document without aliases holds at most one value and one character per byte. What aliases may add to that is bounded, so that a few
 * hundred bytes cannot stand for gigabytes.
 */
const ALIASED_MAX = 64 * 1024;

/** Not in the published types of the library, but part of its documented options. */
export const LOAD_OPTIONS = {
  schema: YAML_SCHEMA,
  // As in JSON, the last of several equal keys counts.
  json: true,
  maxDepth: YAML_DEPTH_MAX,
  maxTotalMergeKeys: MERGED_KEYS_MAX,
};

/**
 * Parses one YAML document into JSON values; others behind it have to be empty. Integers of more than 53 bits become bigints. Throws a DecodeError for a syntax error, for
 * text that is not UTF-8, for numbers that JSON does not have, for nesting that is too deep and for aliases that stand for much more
 * than was sent.
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

/** Upstream reads the first and drops the others; here only what says nothing is dropped. */
function onlyDocument([first, ...others]: readonly unknown[]): unknown {
  if (others.some((each) => each !== undefined && each !== null)) {
    throw new YAMLException('expected a single document in the stream, but found more');
  }
  return first;
}

function placeOf(error: YAMLException): string {
  // The library's types promise a mark; errors about the whole document have none.
  const mark = error.mark as YAMLException['mark'] | undefined;
  return mark === undefined ? '' : ` in line ${String(mark.line + 1)}`;
}

/** Counts values and characters as they will be once every alias is written out. */
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

/** A key of more than a thousand characters is written behind a question mark. It may be the text of a value, too. */
const MARKED_KEY = /^[ -]*\? /m;

/** JSON values as YAML, in the style of the Go library: keys in order, lists not indented, no line folded. */
export function yamlOf(value: unknown): string {
  const text = dump(value, OUTPUT_OPTIONS);
  // Below such a key, the library writes a list that is not indented so that nobody can read it.
  return MARKED_KEY.test(text) ? dump(value, { ...OUTPUT_OPTIONS, noArrayIndent: false }) : text;
}
