import type { Endpoint, EndpointPort, EndpointSlice } from '../../shared/api/types/discovery-v1';
import { deepEqual } from '../../shared/object/clone';
import { canonicalJson } from '../pods/template-hash';

/** The endpoints that share their ports and their address type, and so their slices. */
export interface SliceGroup {
  readonly addressType: string;
  readonly ports: readonly EndpointPort[];
  readonly endpoints: readonly Endpoint[];
}

/** The slices to write: as few as the limits allow, and of those that exist as many as possible as they are. */
export interface SlicePlan {
  readonly create: readonly SliceGroup[];
  readonly update: readonly { readonly slice: EndpointSlice; readonly endpoints: readonly Endpoint[] }[];
  readonly remove: readonly EndpointSlice[];
}

/**
 * Distributes the wanted endpoints over the existing slices of a Service, as upstream's reconciler: endpoints stay where they are; what is
 * new first fills slices that change anyway, then one more that has room, then new slices. A Service without endpoints keeps one empty
 * slice of each address type.
 */
export function planSlices(
  groups: readonly SliceGroup[],
  existing: readonly EndpointSlice[],
  perSlice: number,
): SlicePlan {
  const create: SliceGroup[] = [];
  const update: { slice: EndpointSlice; endpoints: readonly Endpoint[] }[] = [];
  const unclaimed = new Set(existing);
  const byKey = new Map<string, EndpointSlice[]>();
  for (const slice of existing) {
    const alike = byKey.get(keyOf(slice));
    if (alike === undefined) byKey.set(keyOf(slice), [slice]);
    else alike.push(slice);
  }
  for (const group of groups) {
    const own = byKey.get(keyOf(group)) ?? [];
    for (const slice of own) unclaimed.delete(slice);
    const { kept, rest } = keepInPlace(own, group.endpoints);
    const plan = fill({ kept, rest, group, perSlice });
    create.push(...plan.create);
    update.push(...plan.update);
    for (const slice of plan.remove) unclaimed.add(slice);
  }
  return { create, update, remove: [...unclaimed] };
}

/** An existing slice and what it would have. */
interface Kept {
  readonly slice: EndpointSlice;
  endpoints: readonly Endpoint[];
  isChanged: boolean;
}

function keepInPlace(
  slices: readonly EndpointSlice[],
  wanted: readonly Endpoint[],
): { readonly kept: readonly Kept[]; readonly rest: readonly Endpoint[] } {
  const left = new Map(wanted.map((endpoint) => [identityOf(endpoint), endpoint]));
  const kept = slices.map((slice): Kept => {
    const before = slice.endpoints ?? [];
    const endpoints = before.flatMap((endpoint) => {
      const key = identityOf(endpoint);
      const found = left.get(key);
      left.delete(key);
      return found === undefined ? [] : [deepEqual(found, endpoint) ? endpoint : found];
    });
    return { slice, endpoints, isChanged: !deepEqual(endpoints, before) };
  });
  return { kept, rest: [...left.values()] };
}

function fill({
  kept,
  rest,
  group,
  perSlice,
}: {
  readonly kept: readonly Kept[];
  readonly rest: readonly Endpoint[];
  readonly group: SliceGroup;
  readonly perSlice: number;
}): SlicePlan {
  let left = rest;
  const put = (target: Kept): void => {
    const room = perSlice - target.endpoints.length;
    target.endpoints = [...target.endpoints, ...left.slice(0, room)];
    target.isChanged = true;
    left = left.slice(room);
  };
  const changing = kept.filter(({ isChanged, endpoints }) => isChanged && endpoints.length > 0);
  for (const target of [...changing].sort((a, b) => b.endpoints.length - a.endpoints.length))
    if (left.length > 0 && target.endpoints.length < perSlice) put(target);
  // One more slice is written only if all that is left fits into it; the fullest one is chosen.
  const roomy = kept
    .filter(({ isChanged, endpoints }) => !isChanged && endpoints.length + left.length <= perSlice)
    .sort((a, b) => b.endpoints.length - a.endpoints.length)[0];
  if (left.length > 0 && roomy !== undefined) put(roomy);
  // Slices that lost all their endpoints are used again before new ones are made.
  for (const target of kept.filter(({ endpoints }) => endpoints.length === 0))
    if (left.length > 0) put(target);
  const create: SliceGroup[] = [];
  while (left.length > 0) {
    create.push({ ...group, endpoints: left.slice(0, perSlice) });
    left = left.slice(perSlice);
  }
  const isEmpty = group.endpoints.length === 0;
  const [placeholder] = isEmpty ? kept : [];
  if (isEmpty && placeholder === undefined) create.push(group);
  return {
    create,
    update: kept
      .filter((each) => each.isChanged && (each.endpoints.length > 0 || each === placeholder))
      .map(({ slice, endpoints }) => ({ slice, endpoints })),
    remove: kept
      .filter((each) => each.endpoints.length === 0 && each !== placeholder)
      .map(({ slice }) => slice),
  };
}

/** An endpoint is the same as long as its address and its pod are. */
function identityOf({ addresses, targetRef, hostname }: Endpoint): string {
  return canonicalJson([addresses, targetRef?.uid ?? '', hostname ?? '']);
}

function keyOf({
  addressType,
  ports,
}: Pick<SliceGroup, 'addressType'> & { readonly ports: readonly EndpointPort[] | null }): string {
  return `${addressType}/${canonicalJson([...(ports ?? [])].map(canonicalJson).sort())}`;
}
