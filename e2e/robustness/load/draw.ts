import type { Random } from '../../list-watch/chaos/seeded-random';
import type { WrittenResource } from '../../list-watch/chaos/views';
import { HALVES, NAMESPACES, pathOf, RESOURCES } from '../../list-watch/chaos/views';
import type { ObjectVerb } from '../record/operation';

/** One random request for one object. It depends on the seed only, not on earlier answers. */
export interface DrawnRequest {
  readonly verb: ObjectVerb;
  readonly replica: number;
  readonly resource: WrittenResource;
  readonly namespace: string | undefined;
  readonly name: string;
  /** `configmaps/chaos-0/o3`. */
  readonly key: string;
  readonly half: string;
  /** Unique for each write of a run. */
  readonly turn: string;
  /** The required freshness of a read. */
  readonly freshness: 'most recent' | 'not older than';
}

/** Few objects, so that clients conflict. */
const OBJECTS_PER_PLACE = 6;
/** The turn is also a number from which some contents are computed. */
const TURNS_PER_CLIENT = 1_000_000;

const VERBS: readonly (readonly [weight: number, verb: ObjectVerb])[] = [
  [24, 'create'],
  [8, 'update'],
  [9, 'guarded update'],
  [8, 'merge patch'],
  [5, 'JSON patch'],
  [5, 'strategic patch'],
  [6, 'apply'],
  [5, 'status'],
  [13, 'delete'],
  [1, 'deletecollection'],
  [16, 'get'],
];
const WITH_STATUS: readonly string[] = ['pods', 'deployments', 'nodes'];

/** The sequence of requests of one client. */
export function createDraws(random: Random, client: number, replicas: number): () => DrawnRequest {
  let count = 0;
  return () => {
    const resource = pick(RESOURCES, random);
    const namespace = resource.isNamespaced ? pick(NAMESPACES, random) : undefined;
    const name = `o${String(random.below(OBJECTS_PER_PLACE))}`;
    const drawn = random.weighted(VERBS);
    const verb = drawn === 'status' && !WITH_STATUS.includes(resource.resource) ? 'merge patch' : drawn;
    return {
      verb,
      replica: random.below(replicas),
      resource,
      namespace,
      name,
      key: `${resource.resource}/${namespace === undefined ? '' : `${namespace}/`}${name}`,
      half: pick(HALVES, random),
      turn: String(client * TURNS_PER_CLIENT + ++count),
      freshness: random.below(5) === 0 ? 'not older than' : 'most recent',
    };
  };
}

export function collectionOf({ resource, namespace }: DrawnRequest): string {
  return pathOf(resource, namespace);
}

export function objectPathOf({ resource, namespace, name }: DrawnRequest): string {
  return pathOf(resource, namespace, name);
}

export function pick<T>(items: readonly T[], random: Random): T {
  const item = items[random.below(items.length)];
  if (item === undefined) throw new Error('There is nothing to draw from.');
  return item;
}
