import type { LoadBalancerStatus } from '../../../../shared/api/types/core-v1';
import type { LabelSelector } from '../../../../shared/api/types/meta-v1';
import { formatLabelSelector, toLabelSelector, NO_LABEL } from '../../../../shared/meta/labels';
import { SelectorError } from '../../../../shared/meta/selector-error';

export const NONE = '<none>';
export const UNSET = '<unset>';
export const UNKNOWN = '<unknown>';

/** A map of labels as `a=1,b=2`, sorted by key; `<none>` when empty. */
export function labelsText(labels: Readonly<Record<string, string>> = {}): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0 ? NONE : pairs.toSorted().join(',');
}

/** A LabelSelector as it is written in a query; empty for none and for the one that selects everything. */
export function plainSelectorText(selector: LabelSelector | null | undefined): string {
  try {
    const parsed = toLabelSelector(selector ?? undefined);
    return parsed === NO_LABEL ? '' : formatLabelSelector(parsed);
  } catch (error) {
    if (error instanceof SelectorError) return '<error>';
    throw error;
  }
}

/** As `plainSelectorText`, with `<none>` for an empty text. */
export function selectorText(selector: LabelSelector | null | undefined): string {
  const text = plainSelectorText(selector);
  return text === '' ? NONE : text;
}

/** The first items of a list, and how many more there are. */
export function shortList(items: readonly string[], max: number): string {
  const shown = items.slice(0, max).join(',');
  return items.length > max ? `${shown} + ${String(items.length - max)} more...` : shown;
}

const SLICE_ITEMS_SHOWN_MAX = 3;

/** A short list that says so when it is empty. */
export function sliceItems(items: readonly string[]): string {
  const text = shortList(items, SLICE_ITEMS_SHOWN_MAX);
  return text === '' ? UNSET : text;
}

/** Addresses of a load balancer, sorted, each once. */
export function loadBalancerText({ ingress = [] }: LoadBalancerStatus): string {
  const addresses = ingress.map(({ ip = '', hostname = '' }) => (ip === '' ? hostname : ip));
  return [...new Set(addresses.filter((each) => each !== ''))].toSorted().join(',');
}

/** How many keys a map has. */
export function countOf(map: object = {}): number {
  return Object.keys(map).length;
}

/** The phase of an object, or that it is on its way out. */
export function phaseOf({
  metadata,
  status,
}: {
  readonly metadata: { readonly deletionTimestamp?: string | null };
  readonly status?: { readonly phase?: string };
}): string {
  return metadata.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating';
}
