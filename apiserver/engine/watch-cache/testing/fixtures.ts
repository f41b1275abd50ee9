import type { Clock } from '../../../../shared/concurrency/clock';
import { systemClock } from '../../../../shared/concurrency/clock';
import type { Log } from '../../../../shared/log/log';
import { silentLog } from '../../../../shared/log/log';
import { PATIENCE_MS, patience } from '../../../../shared/testing/eventually';
import type { Backend } from '../../storage/backend';
import { ClusterCache } from '../cluster-cache';
import type { CachedResource, Entry, Representation } from '../state/entry';
import type { DecodedValues } from '../state/entry-codec';
import type { CacheLimits } from '../limits';
import type { WatchRequest } from '../fan-out/watch-request';

export const PREFIX = '/registry';

export const PODS: CachedResource = {
  name: 'pods',
  keyPrefix: 'core/pods/',
  namespaced: true,
  fieldPaths: ['spec.nodeName', 'status.phase'],
  indexedFields: ['spec.nodeName'],
};
export const CONFIG_MAPS: CachedResource = {
  name: 'configmaps',
  keyPrefix: 'core/configmaps/',
  namespaced: true,
  fieldPaths: [],
  indexedFields: [],
};
export const NODES: CachedResource = {
  name: 'nodes',
  keyPrefix: 'core/nodes/',
  namespaced: false,
  fieldPaths: ['spec.unschedulable'],
  indexedFields: [],
};

export interface PodShape {
  readonly namespace: string;
  readonly name: string;
  readonly node?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly data?: string;
}

export function podKey({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${PREFIX}/core/pods/${namespace}/${name}`;
}

/** A pod as the codec stores it. */
export function podBytes({ namespace, name, node, labels, data }: PodShape): Buffer {
  return Buffer.from(
    JSON.stringify({
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: {
        name,
        namespace,
        uid: `uid-${namespace}-${name}`,
        ...(labels === undefined ? {} : { labels }),
      },
      spec: node === undefined ? {} : { nodeName: node },
      ...(data === undefined ? {} : { data }),
    }),
  );
}

export interface Frame {
  readonly type: string;
  readonly object: {
    readonly metadata: {
      readonly name: string;
      readonly namespace?: string;
      readonly resourceVersion: string;
      readonly labels?: Readonly<Record<string, string>>;
      readonly annotations?: Readonly<Record<string, string>>;
    };
    readonly spec?: { readonly nodeName?: string };
    readonly data?: string;
    readonly code?: number;
    readonly reason?: string;
    readonly message?: string;
  };
}

/** Encodes JSON lines and counts the encoded frames. */
export class JsonRepresentation implements Representation {
  readonly id: string;
  encoded = 0;
  readonly #head: string;

  constructor(id = 'v1;json', head = '{"kind":"Pod","apiVersion":"v1",') {
    this.id = id;
    this.#head = head;
  }

  frame(type: 'ADDED' | 'MODIFIED' | 'DELETED', entry: Entry): Buffer {
    this.encoded += 1;
    return Buffer.concat([Buffer.from(`{"type":"${type}","object":${this.#head}`), entry.bytes, NEWLINE]);
  }

  bookmark(revision: number, initialEventsEnd: boolean): Buffer {
    const annotations = initialEventsEnd ? { annotations: { end: 'true' } } : {};
    const object = { metadata: { resourceVersion: String(revision), ...annotations } };
    return Buffer.from(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
  }

  error(status: object): Buffer {
    return Buffer.from(`${JSON.stringify({ type: 'ERROR', object: status })}\n`);
  }
}
const NEWLINE = Buffer.from('}\n');

export function requestFor(parts: Partial<WatchRequest> = {}): WatchRequest {
  return {
    from: undefined,
    namespace: '',
    name: '',
    fieldEquals: [],
    matches: undefined,
    representation: new JsonRepresentation(),
    apiVersion: 'v1',
    bookmarks: false,
    timeoutMs: 60_000,
    client: 'test',
    ...parts,
  };
}

export function framesOf(bytes: Buffer): Frame[] {
  return bytes
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Frame);
}

/** Formats a frame for assertions: `ADDED a/x@3`. */
export function brief(frame: Frame): string {
  const { name, namespace, resourceVersion } = frame.object.metadata;
  if (frame.type === 'BOOKMARK') return `BOOKMARK @${resourceVersion}`;
  if (frame.type === 'ERROR') return `ERROR ${frame.object.code} ${frame.object.reason}`;
  return `${frame.type} ${namespace === undefined ? '' : `${namespace}/`}${name}@${resourceVersion}`;
}

/** Reads a watch frame by frame. */
export class FrameReader {
  readonly #stream: AsyncIterator<Buffer>;
  #frames: Frame[] = [];
  pieces = 0;

  constructor(stream: AsyncIterable<Buffer>) {
    this.#stream = stream[Symbol.asyncIterator]();
  }

  /** The next frame, or undefined at the end of the stream. */
  async next(): Promise<Frame | undefined> {
    while (this.#frames.length === 0) {
      const piece = await this.#stream.next();
      if (piece.done === true) return undefined;
      this.pieces += 1;
      this.#frames = framesOf(piece.value);
    }
    return this.#frames.shift();
  }

  async take(count: number): Promise<string[]> {
    const taken: string[] = [];
    while (taken.length < count) {
      const frame = await this.next();
      if (frame === undefined) break;
      taken.push(brief(frame));
    }
    return taken;
  }

  /** Everything up to the end of the stream. */
  async rest(): Promise<string[]> {
    return this.take(Infinity);
  }
}

export function createCache(
  backend: Backend,
  options: {
    readonly limits?: Partial<CacheLimits>;
    readonly clock?: Clock;
    readonly resources?: readonly CachedResource[];
    readonly log?: Log;
    readonly fills?: 'everything' | 'on demand';
    readonly decoded?: DecodedValues;
  } = {},
): ClusterCache {
  return new ClusterCache({
    backend,
    prefix: PREFIX,
    resources: options.resources ?? [PODS, CONFIG_MAPS, NODES],
    log: options.log ?? silentLog,
    clock: options.clock ?? systemClock,
    limits: { retryDelayMinMs: 1, retryDelayMaxMs: 5, ...options.limits },
    fills: options.fills ?? 'everything',
    decoded: options.decoded,
  });
}

/** Resolves once `count` watches are live. */
export async function live(cluster: ClusterCache, count: number): Promise<void> {
  while (cluster.watchers().filter(({ isLive }) => isLive).length < count) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}

/** Resolves once the cache has caught up with the store. */
export async function caughtUp(cache: ClusterCache, backend: { readonly revision: number }): Promise<void> {
  const signal = patience();
  const isReached = await cache.waitForRevision(backend.revision, { timeoutMs: PATIENCE_MS, signal });
  if (!isReached) throw new Error('the cache did not catch up');
}
