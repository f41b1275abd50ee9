/** One request that is designed to block the event loop as long as possible. */
export interface WorstRequest {
  readonly name: string;
  /** Default: GET. */
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Created on demand and not retained. */
  readonly body?: () => Buffer;
  /** The path and Accept header of {@link WATCHERS} watches that are open meanwhile. */
  readonly watched?: { readonly path: string; readonly accept: string };
}

export const WATCHERS = 10;

/** Just below the limit of the server. */
export const BODY_BYTES_MAX = 3 * 1_024 * 1_024 - 256;

/** The namespace and the objects that exist before the first request: see `stored.ts`. */
export const SPACE = '/api/v1/namespaces/worst';
export const MANY = '/api/v1/namespaces/many/configmaps';

export const TYPE = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
  table: 'application/json;as=Table;g=meta.k8s.io;v=v1',
  partial: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  jsonPatch: 'application/json-patch+json',
  mergePatch: 'application/merge-patch+json',
  strategicPatch: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

/** A repeated part of an object: the text before it, the item, and the text after it. */
export type Row = readonly [name: string, path: string, begin: string, item: Item, end: string];
export type Item = string | ((index: number) => string);

export const META = '"metadata":{"name":"w"}';
export const CONTAINER = '{"name":"c","image":"i"}';

interface Filled {
  readonly begin?: string;
  readonly item: Item;
  readonly between?: string;
  readonly end?: string;
  readonly bytes?: number;
  readonly count?: number;
}

/** Repeats an item up to the size of the largest body, or the given number of times. */
export function filled({
  begin = '',
  item,
  between = ',',
  end = '',
  bytes = BODY_BYTES_MAX,
  count = Infinity,
}: Filled): string {
  const room = bytes - Buffer.byteLength(begin) - Buffer.byteLength(end);
  if (typeof item === 'string') {
    const each = Buffer.byteLength(item) + Buffer.byteLength(between);
    const times = Math.max(1, Math.min(count, Math.floor(room / each)));
    return begin + `${item}${between}`.repeat(times - 1) + item + end;
  }
  const items: string[] = [];
  for (let used = 0; items.length < count;) {
    const next = item(items.length);
    used += Buffer.byteLength(next) + Buffer.byteLength(between);
    if (used > room) break;
    items.push(next);
  }
  return begin + items.join(between) + end;
}

/** `#` is the number of the item, modulo the given number. */
export function numbered(text: string, modulus = Infinity): (index: number) => string {
  return (index) => text.replaceAll('#', String(index % modulus));
}

/** A POST of a text. */
export function post(
  name: string,
  path: string,
  [type, text]: readonly [type: string, text: () => string],
): WorstRequest {
  return { name, method: 'POST', path, headers: { 'content-type': type }, body: () => Buffer.from(text()) };
}
