import { joinPath } from '../../../../shared/meta/repeated-keys';
import { setKey } from '../../../../shared/schema/string-map';
import { YamlError } from './cursor';
import type { AliasNode, ListNode, MapNode, ScalarNode, YamlNode } from './parser';
import { TAG_PREFIX } from './parser';
import type { Resolved } from './resolve';
import { resolveScalar } from './resolve';

const INT64_MAX = 2n ** 63n - 1n;

/** A value weighs as much as so many characters. */
export const VALUE_WEIGHT = 8;

export interface ConversionOptions {
  /** Deepest nesting, with aliases expanded. */
  readonly depthMax: number;
  /** Largest weight of all values and characters, with aliases expanded. */
  readonly weightMax: number;
  /** Called with the path of each key that repeats an earlier one. */
  readonly onDuplicate?: (path: string) => void;
}

/** Aliases expand to too many values, or to too much text. */
export class ExcessiveAliasingError extends YamlError {
  constructor() {
    super('document contains excessive aliasing');
  }
}

/**
 * Converts a node to the JSON value that upstream makes of it. Integers of more than 53 bits are bigints. Throws YamlError
 * for what JSON cannot hold (infinite numbers, keys that are null, lists or maps), an alias within its own anchor, and a
 * document that exceeds the limits.
 */
export function toJson(node: YamlNode, options: ConversionOptions): unknown {
  return new Converter(options).value(node, '');
}

class Converter {
  readonly #options: ConversionOptions;
  #weight = 0;
  #depth = 0;
  readonly #open = new Set<AliasNode>();

  constructor(options: ConversionOptions) {
    this.#options = options;
  }

  value(node: YamlNode, path: string): unknown {
    switch (node.kind) {
      case 'scalar': {
        const { value } = this.#resolve(node);
        return typeof value === 'number' || typeof value === 'bigint' ? toJsonNumber(value) : value;
      }
      case 'list':
        return this.#nested(() => this.#list(node, path));
      case 'map':
        return this.#nested(() => this.#map(node, path));
      case 'alias':
        break;
    }
    return this.#within(node, () => this.value(node.target, path));
  }

  /** A short value may have a long text, such as `1____`, so the weight is that of the text. */
  #resolve(node: ScalarNode): Resolved {
    this.#weigh(node.text.length);
    return resolveScalar(node);
  }

  #weigh(textLength = 0): void {
    this.#weight += VALUE_WEIGHT + textLength;
    if (this.#weight > this.#options.weightMax) throw new ExcessiveAliasingError();
  }

  /** Calls `read` one level deeper. A merge is a level too: its values do not nest, but its calls do. */
  #nested<T>(read: () => T): T {
    this.#weigh();
    const { depthMax } = this.#options;
    if (this.#depth === depthMax) throw new YamlError(`exceeded max depth of ${String(depthMax)}`);
    this.#depth += 1;
    const result = read();
    this.#depth -= 1;
    return result;
  }

  #within<T>(alias: AliasNode, read: () => T): T {
    if (this.#open.has(alias)) throw new YamlError(`anchor '${alias.name}' value contains itself`);
    this.#open.add(alias);
    const result = read();
    this.#open.delete(alias);
    return result;
  }

  /** Paths are formatted only where duplicates are reported. */
  #path(path: string, part: string): string {
    if (this.#options.onDuplicate === undefined) return '';
    return joinPath(path, part);
  }

  #list({ items }: ListNode, path: string): unknown[] {
    return items.map((item, index) => this.value(item, this.#path(path, `[${String(index)}]`)));
  }

  #map(node: MapNode, path: string): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    this.#fill(object, node, path);
    return object;
  }

  /** Adds the entries of a map. As upstream, a merge (`<<`) replaces what comes before it. */
  #fill(object: Record<string, unknown>, { entries }: MapNode, path: string): void {
    for (const { key: keyNode, value: valueNode } of entries) {
      if (isMerge(keyNode)) {
        this.#merge(object, valueNode, path);
        continue;
      }
      const key = this.#key(keyNode);
      const at = this.#path(path, key);
      const value = this.value(valueNode, at);
      if (Object.hasOwn(object, key)) this.#options.onDuplicate?.(at);
      setKey(object, key, value);
    }
  }

  #key(node: YamlNode): string {
    const target = node.kind === 'alias' ? node.target : node;
    if (target.kind !== 'scalar') throw new YamlError(`invalid map key: a ${target.kind}`);
    return toKey(this.#resolve(target));
  }

  #merge(object: Record<string, unknown>, node: YamlNode, path: string): void {
    this.#weigh();
    // Earlier items take precedence, so the last one is merged first.
    const sources = node.kind === 'list' ? node.items.toReversed() : [node];
    for (const source of sources) {
      const target = source.kind === 'alias' ? source.target : source;
      if (target.kind !== 'map')
        throw new YamlError('map merge requires map or sequence of maps as the value');
      const fill = (): void => {
        this.#nested(() => {
          this.#fill(object, target, path);
        });
      };
      if (source.kind === 'alias') this.#within(source, fill);
      else fill();
    }
  }
}

function isMerge(node: YamlNode): boolean {
  return node.kind === 'scalar' && node.text === '<<' && (node.isPlain || node.tag === `${TAG_PREFIX}merge`);
}

/** Upstream passes numbers on as JSON text, so that a whole float (`1.0`, `1e3`) reads as an integer. */
function toJsonNumber(value: number | bigint): number | bigint {
  if (typeof value === 'bigint') return isSafe(value) || value > INT64_MAX ? Number(value) : value;
  if (!Number.isFinite(value)) throw new YamlError(`unsupported value: ${nameOf(value)}`);
  if (Number.isSafeInteger(value)) return value === 0 ? 0 : value;
  const text = String(value);
  if (!/^-?\d+$/.test(text)) return value;
  const whole = BigInt(text);
  return BigInt.asIntN(64, whole) === whole ? whole : value;
}

function isSafe(value: bigint): boolean {
  return Number.isSafeInteger(Number(value));
}

function nameOf(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '+Inf' : '-Inf';
}

function toKey({ type, value }: Resolved): string {
  if (value === null) throw new YamlError('unsupported map key of type null');
  if (typeof value === 'bigint' && value > INT64_MAX)
    throw new YamlError(`unsupported map key of type uint64, key: ${String(value)}`);
  return type === 'float' ? formatFloat32(Number(value)) : Object.is(value, -0) ? '0' : String(value);
}

/** From this exponent on, and below the other, Go's format `g` writes an exponent. */
const LARGE_EXPONENT = 6;
const SMALL_EXPONENT = -4;

/** Formats a float as upstream formats it in a key: with the fewest digits that 32 bits of floating point need. */
function formatFloat32(value: number): string {
  const single = Math.fround(value);
  if (Number.isNaN(single)) return '.nan';
  if (!Number.isFinite(single)) return single > 0 ? '.inf' : '-.inf';
  let digits = 0;
  let scientific = single.toExponential(digits);
  while (Math.fround(Number(scientific)) !== single) scientific = single.toExponential((digits += 1));
  const [mantissa = '', exponentText = ''] = scientific.split('e');
  const exponent = Number(exponentText);
  const sign = Object.is(single, -0) ? '-' : '';
  if (exponent >= SMALL_EXPONENT && exponent < LARGE_EXPONENT)
    return sign + single.toFixed(Math.max(digits - exponent, 0));
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}
