import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { IWatchResponse, Watcher } from 'etcd3';
import { Etcd3 } from 'etcd3';
import type { EtcdCluster } from '../../../deploy/local/etcd-cluster';
import type { Body } from '../../support/client';
import { linkedAbort } from '../../../shared/concurrency/linked-abort';
import { RevisionSet } from './revision-set';
import type { View } from './views';
import { VIEWS } from './views';

/** The history of one view in etcd. */
export interface ViewTruth {
  /** The exact versions that a watcher of the view must receive. */
  readonly revisions: RevisionSet;
  /** The version of each existing object, by `namespace/name` or name. */
  readonly objects: ReadonlyMap<string, number>;
}

/**
 * The history of all API objects in etcd, followed revision by revision through all faults of its members. Informers are compared with it.
 */
export interface Truth {
  view(view: View): ViewTruth;
  /** All revisions that changed an object of this resource, and the number of deletions. */
  resource(resource: string): { readonly revisions: RevisionSet; readonly deletions: number };
  /** The newest revision read. Throws when the history was compacted before it was read. */
  revision(): number;
  stop(): Promise<void>;
}

const ROOT = '/registry/';
const RECONNECT_DELAY_MS = 200;
const CONNECT_TIMEOUT_MS = 3_000;
const OVER = new Error('the watch of etcd is over');

interface Known {
  readonly resource: string;
  readonly namespace: string;
  readonly half: string | undefined;
  readonly version: number;
}

/** One change of one key; `value` is empty for a deletion. */
export interface TruthEvent {
  readonly key: string;
  readonly revision: number;
  readonly isDeletion: boolean;
  readonly value: Buffer;
}

/** The offset between etcd revisions and resourceVersions: positive once the store was replaced. The prefix must be the default. */
export async function offsetOf(etcd: EtcdCluster): Promise<number> {
  const client = new Etcd3({ hosts: etcd.members.map(({ clientUrl }) => clientUrl) });
  try {
    const identity = await client.get(`${ROOT}store-identity`).string();
    if (identity === null) throw new Error('the identity of the store is missing');
    return Number((JSON.parse(identity) as { readonly offset?: number }).offset);
  } finally {
    client.close();
  }
}

/**
 * Follows the history after `base`, starting with the state at that revision. The key prefix must be the default. `tell` gets every change after
 * `base` once, in order.
 */
export async function followTruth(
  etcd: EtcdCluster,
  base: number,
  tell: (event: TruthEvent) => void = () => undefined,
): Promise<Truth> {
  const offset = await offsetOf(etcd);
  const objects = await objectsAt(etcd, base, offset);
  const views = new Map(VIEWS.map((view) => [view.id, new RevisionSet(base)]));
  const resources = new Map<string, { revisions: RevisionSet; deletions: number }>();
  let revision = base;

  const take = ({ events }: Pick<IWatchResponse, 'events'>): void => {
    for (const { type, kv } of events) {
      const version = Number(kv.mod_revision) + offset;
      revision = version;
      const key = kv.key.toString();
      const isDeleted = type === 'Delete';
      tell({ key, revision: version, isDeletion: isDeleted, value: kv.value });
      const place = placeOf(key);
      if (place === undefined) continue;
      const before = objects.get(key);
      const half = isDeleted ? undefined : halfOf(kv.value);
      if (isDeleted) objects.delete(key);
      else objects.set(key, { ...place, half, version });
      const all = resources.get(place.resource) ?? { revisions: new RevisionSet(base), deletions: 0 };
      all.revisions.add(version);
      if (isDeleted) all.deletions++;
      resources.set(place.resource, all);
      for (const view of VIEWS) {
        const isSeen =
          (before !== undefined && isOf(view, before)) || (!isDeleted && isOf(view, { ...place, half }));
        if (isSeen) views.get(view.id)?.add(version);
      }
    }
  };

  const stop = new AbortController();
  const running = follow({ etcd, from: () => revision + 1 - offset, take }, stop.signal);
  let failure: unknown;
  running.catch((error: unknown) => {
    failure = error;
  });
  return {
    view: (view) => ({
      revisions: views.get(view.id) ?? new RevisionSet(base),
      objects: new Map(
        [...objects]
          .filter(([, known]) => isOf(view, known))
          .map(([key, { version }]) => [placeOf(key)?.name ?? '', version]),
      ),
    }),
    resource: (resource) => resources.get(resource) ?? { revisions: new RevisionSet(base), deletions: 0 },
    revision: () => {
      if (failure !== undefined) throw new Error('failed to follow the history of etcd', { cause: failure });
      return revision;
    },
    async stop() {
      stop.abort();
      await running;
    },
  };
}

async function objectsAt(etcd: EtcdCluster, revision: number, offset: number): Promise<Map<string, Known>> {
  const objects = new Map<string, Known>();
  const client = new Etcd3({ hosts: etcd.members.map(({ clientUrl }) => clientUrl) });
  try {
    const { kvs } = await client
      .getAll()
      .prefix(ROOT)
      .revision(revision - offset)
      .exec();
    for (const kv of kvs) {
      const key = kv.key.toString();
      const place = placeOf(key);
      if (place === undefined) continue;
      objects.set(key, { ...place, half: halfOf(kv.value), version: Number(kv.mod_revision) + offset });
    }
  } finally {
    client.close();
  }
  return objects;
}

interface Following {
  readonly etcd: EtcdCluster;
  readonly from: () => number;
  readonly take: (response: IWatchResponse) => void;
}

/**
 * Connects to one member after the other, from the revision after the last one read. The library would resume from the newest revision of the
 * store, and could miss events of a broken connection.
 */
async function follow({ etcd, from, take }: Following, signal: AbortSignal): Promise<void> {
  for (let turn = 0; !signal.aborted; turn++) {
    const member = etcd.members[turn % etcd.members.length];
    if (member?.pid === undefined) {
      await delay(RECONNECT_DELAY_MS);
      continue;
    }
    const client = new Etcd3({ hosts: member.clientUrl });
    try {
      const watcher = client.watch().prefix(ROOT).startRevision(String(from())).watcher();
      await untilBroken(watcher, take, signal);
    } finally {
      client.close();
    }
    if (!signal.aborted) await delay(RECONNECT_DELAY_MS);
  }
}

/** Resolves when this connection ends; throws when the requested history is compacted. */
async function untilBroken(watcher: Watcher, take: Following['take'], signal: AbortSignal): Promise<void> {
  const over = linkedAbort(signal);
  const connecting = setTimeout(() => {
    over.abort(OVER);
  }, CONNECT_TIMEOUT_MS);
  let failure: Error | undefined;
  watcher.on('connected', () => {
    clearTimeout(connecting);
  });
  watcher.on('data', (response) => {
    if (!over.signal.aborted) take(response);
  });
  watcher.on('disconnected', () => {
    over.abort(OVER);
  });
  watcher.on('error', (error) => {
    if (error.message.includes('compacted')) failure = error;
    over.abort(OVER);
  });
  if (!over.signal.aborted) await once(over.signal, 'abort');
  over.unlink();
  over.abort(OVER);
  clearTimeout(connecting);
  // Not awaited, because a dead member does not confirm. Without the cancel the library would reconnect for ever.
  watcher.cancel().catch(() => undefined);
  if (failure !== undefined) throw failure;
}

function isOf(
  view: View,
  {
    resource,
    namespace,
    half,
  }: { readonly resource: string; readonly namespace: string; readonly half: string | undefined },
): boolean {
  return (
    view.resource === resource &&
    (view.namespace === undefined || view.namespace === namespace) &&
    (view.half === undefined || view.half === half)
  );
}

/** `/registry/<group or core>/<resource>[/<namespace>]/<name>`; undefined for keys of other resources. */
function placeOf(
  key: string,
): { readonly resource: string; readonly namespace: string; readonly name: string } | undefined {
  const [group, resource = '', ...rest] = key.slice(ROOT.length).split('/');
  const view = VIEWS.find(
    (each) => each.resource === resource && (each.group === '' ? 'core' : each.group) === group,
  );
  if (view === undefined || rest.length === 0) return undefined;
  return { resource, namespace: rest.length > 1 ? (rest[0] ?? '') : '', name: rest.join('/') };
}

/** Objects are stored as JSON. */
function halfOf(value: Buffer): string | undefined {
  return (JSON.parse(value.toString()) as Body).metadata?.labels?.['half'];
}
