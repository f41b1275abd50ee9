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

/** What etcd itself says of one view. */
export interface ViewTruth {
  /** The versions a watcher of the view must be told, and no others. */
  readonly revisions: RevisionSet;
  /** The version of each object that is there, by `namespace/name` or name. */
  readonly objects: ReadonlyMap<string, number>;
}

/**
 * etcd's own history of everything the API stores, followed revision by revision through whatever happens to its members: the
 * measure that informers are held against.
 */
export interface Truth {
  view(view: View): ViewTruth;
  /** All revisions that changed an object of this resource, and how many of them were deletions. */
  resource(resource: string): { readonly revisions: RevisionSet; readonly deletions: number };
  /** The newest revision that was seen. Throws when the history was compacted before it was read. */
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

/** One change of one key, of whatever resource; `value` is empty for a deletion. */
export interface TruthEvent {
  readonly key: string;
  readonly revision: number;
  readonly isDeletion: boolean;
  readonly value: Buffer;
}

/** What is added to etcd's revisions to make resourceVersions: more than nothing once the store was replaced. The prefix must be the default. */
export async function offsetOf(etcd: EtcdCluster): Promise<number> {
  const client = new Etcd3({ hosts: etcd.members.map(({ clientUrl }) => clientUrl) });
  try {
    const identity = await client.get(`${ROOT}store-identity`).string();
    if (identity === null) throw new Error('No replica has written down the identity of the store.');
    return Number((JSON.parse(identity) as { readonly offset?: number }).offset);
  } finally {
    client.close();
  }
}

/**
 * Follows from behind `base`, beginning with what was there at that revision. The prefix of the keys must be the default. `tell` is
 * given every change after `base` once, in order.
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
      if (failure !== undefined) throw new Error("etcd's history cannot be followed", { cause: failure });
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
 * One member after the other, each connection from the revision behind the last one taken. The library's own way to resume goes by the
 * store's newest revision instead, and so can leave out what a connection broke off.
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

/** Resolves when this connection tells no more; throws when the history it asks for is gone. */
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
  // Not waited for: a member that is gone confirms nothing. Without it the library would go on connecting for ever.
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

/** `/registry/<group or core>/<resource>[/<namespace>]/<name>`; undefined for what is no object of the written resources. */
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
