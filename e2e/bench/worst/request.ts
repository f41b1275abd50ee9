/** One request that was made up to hold a server for as long as it can. */
export interface WorstRequest {
  readonly name: string;
  /** Default: GET. */
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Made when it is needed, and not kept. */
  readonly body?: () => Buffer;
  /** What is watched meanwhile, each by {@link WATCHERS} watchers: the path and the Accept header. */
  readonly watched?: { readonly path: string; readonly accept: string };
}

export const WATCHERS = 10;

/** Just below what the server takes. */
export const BODY_BYTES_MAX = 3 * 1_024 * 1_024 - 256;

/** The namespace of what is stored before the first request, and its objects: see `stored.ts`. */
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

/** Something in an object that is repeated until the body is full: what stands before it, the item, and what stands after it. */
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

/** A text that repeats an item until it has the size of the largest body, or as many as are wanted. */
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

/** `#` is the number of the item, again from the start after so many. */
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
