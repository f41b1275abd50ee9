import type { TruthEvent } from '../../list-watch/chaos/truth';
import type { View } from '../../list-watch/chaos/views';
import { VIEWS } from '../../list-watch/chaos/views';
import type { Body } from '../../support/client';
import type { ShownObject } from './operation';

/** One change of one object in the store. */
export interface Change {
  readonly revision: number;
  /** `namespace/name`, or the name alone. */
  readonly key: string;
  readonly resource: string;
  readonly namespace: string;
  /** Undefined for a deletion. */
  readonly object: StoredObject | undefined;
}

export interface StoredObject {
  readonly turn: string;
  readonly half: string | undefined;
  /** The addresses and node ports of a Service. */
  readonly addresses: readonly string[];
  /** Marked for deletion: the deletion of a pod first stores it with a mark, then removes it. */
  readonly isMarked: boolean;
}

const ROOT = '/registry/';

/**
 * The history of the store since `base`, the reference for every answer. It is kept until the store is replaced, with about 200 bytes
 * for each change.
 */
export class History {
  readonly base: number;
  readonly changes: Change[] = [];
  /** The newest revision, of any key. */
  revision: number;
  readonly #byObject = new Map<string, Change[]>();

  constructor(base: number, before: readonly Change[] = []) {
    this.base = base;
    this.revision = base;
    for (const change of before) this.#add(change);
  }

  take(event: TruthEvent): void {
    this.revision = event.revision;
    const change = toChange(event);
    if (change !== undefined) this.#add(change);
  }

  /** All changes of one object, `configmaps/chaos-0/o3`, oldest first. */
  of(object: string): readonly Change[] {
    return this.#byObject.get(object) ?? [];
  }

  objects(): IterableIterator<string> {
    return this.#byObject.keys();
  }

  /** The expected content of a list of the view at a revision, by key. */
  stateAt(view: View, revision: number): ReadonlyMap<string, ShownObject> {
    const shown = new Map<string, ShownObject>();
    for (const [id, changes] of this.#byObject) {
      if (!id.startsWith(`${view.resource}/`)) continue;
      const last = changes[countUpTo(changes, revision) - 1];
      if (last?.object === undefined || !isIn(view, last, last.object)) continue;
      shown.set(last.key, { key: last.key, version: last.revision, turn: last.object.turn });
    }
    return shown;
  }

  /** The expected events of a watch of the view after `from`, up to and including `to`. */
  eventsOf(view: View, from: number, to: number): readonly WatchedChange[] {
    const all = this.#eventsOf(view);
    return all.slice(countUpTo(all, from), countUpTo(all, to));
  }

  #eventsOf(view: View): readonly WatchedChange[] {
    const known = this.#events.get(view.id) ?? { taken: 0, shown: new Map<string, string>(), events: [] };
    this.#events.set(view.id, known);
    for (; known.taken < this.changes.length; known.taken++) {
      const change = this.changes[known.taken];
      if (change === undefined || change.resource !== view.resource) continue;
      const { key, revision, object } = change;
      const before = known.shown.get(key);
      if (object !== undefined && isIn(view, change, object)) {
        known.shown.set(key, object.turn);
        known.events.push({
          type: before === undefined ? 'ADDED' : 'MODIFIED',
          key,
          revision,
          turn: object.turn,
        });
      } else if (before !== undefined) {
        known.shown.delete(key);
        known.events.push({ type: 'DELETED', key, revision, turn: before });
      }
    }
    return known.events;
  }

  readonly #events = new Map<
    string,
    { taken: number; readonly shown: Map<string, string>; readonly events: WatchedChange[] }
  >();

  #add(change: Change): void {
    this.changes.push(change);
    const id = `${change.resource}/${change.key}`;
    const list = this.#byObject.get(id);
    if (list === undefined) this.#byObject.set(id, [change]);
    else list.push(change);
  }
}

export interface WatchedChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly key: string;
  readonly revision: number;
  /** The last shown state of an object that was deleted or is no longer selected. */
  readonly turn: string;
}

export function viewOfId(id: string): View {
  const view = VIEWS.find((each) => each.id === id);
  if (view === undefined) throw new Error(`There is no view ${id}.`);
  return view;
}

/** Undefined for keys that do not belong to a resource. */
export function toChange({ key, revision, isDeletion, value }: TruthEvent): Change | undefined {
  if (!key.startsWith(ROOT)) return undefined;
  const [, resource = '', ...rest] = key.slice(ROOT.length).split('/');
  if (rest.length === 0 || rest.length > 2) return undefined;
  return {
    revision,
    key: rest.join('/'),
    resource,
    namespace: rest.length > 1 ? (rest[0] ?? '') : '',
    object: isDeletion ? undefined : storedObject(resource, value),
  };
}

function storedObject(resource: string, value: Buffer): StoredObject {
  const { metadata, spec = {} } = parsed(value);
  const { turn = '' } = metadata?.annotations ?? {};
  const { half } = metadata?.labels ?? {};
  return {
    turn,
    isMarked: metadata?.deletionTimestamp !== undefined,
    half,
    addresses: resource === 'services' ? addressesOf(spec) : [],
  };
}

/** Objects are stored as JSON; other values below the root are ignored. */
function parsed(value: Buffer): Body {
  try {
    return JSON.parse(value.toString()) as Body;
  } catch {
    return {};
  }
}

function addressesOf(spec: Readonly<Record<string, unknown>>): readonly string[] {
  const { clusterIP, ports = [] } = spec as {
    readonly clusterIP?: string;
    readonly ports?: readonly { readonly nodePort?: number; readonly protocol?: string }[];
  };
  return [
    ...(clusterIP === undefined || clusterIP === '' || clusterIP === 'None' ? [] : [clusterIP]),
    ...ports
      .filter(({ nodePort }) => (nodePort ?? 0) > 0)
      .map(({ nodePort, protocol }) => `node port ${String(nodePort)}/${protocol ?? 'TCP'}`),
  ];
}

function isIn(view: View, { namespace }: Change, { half }: StoredObject): boolean {
  return (
    (view.namespace === undefined || view.namespace === namespace) &&
    (view.half === undefined || view.half === half)
  );
}

/** The number of ascending revisions that are at or below the revision. */
function countUpTo(changes: readonly { readonly revision: number }[], revision: number): number {
  let low = 0;
  let high = changes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((changes[middle]?.revision ?? Infinity) <= revision) low = middle + 1;
    else high = middle;
  }
  return low;
}
