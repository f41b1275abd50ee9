import type { LabelSelectorObject } from '../../../shared/meta/labels';
import { formatLabelSelector, labelSelectorOf, NO_LABEL } from '../../../shared/meta/labels';
import { SelectorError } from '../../../shared/meta/selector-error';
import { at, listAt, mapAt, textAt } from './read';

export const NONE = '<none>';
export const UNSET = '<unset>';
export const UNKNOWN = '<unknown>';

/** A map of labels as `a=1,b=2`, sorted by key; `<none>` when empty. */
export function labelsText(labels: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${String(value)}`);
  return pairs.length === 0 ? NONE : pairs.toSorted().join(',');
}

/** A LabelSelector as it is written in a query; empty for none and for the one that selects everything. */
export function plainSelectorText(selector: unknown): string {
  try {
    const parsed = labelSelectorOf(selector as LabelSelectorObject | undefined);
    return parsed === NO_LABEL ? '' : formatLabelSelector(parsed);
  } catch (error) {
    if (error instanceof SelectorError) return '<error>';
    throw error;
  }
}

/** As `plainSelectorText`, with `<none>` for an empty text. */
export function selectorText(selector: unknown): string {
  const text = plainSelectorText(selector);
  return text === '' ? NONE : text;
}

/** The cells Containers and Images of a pod template. */
export function containerCells(template: unknown): readonly [string, string] {
  const containers = listAt(template, 'spec', 'containers');
  return [
    containers.map((each) => textAt(each, 'name')).join(','),
    containers.map((each) => textAt(each, 'image')).join(','),
  ];
}

/** The cells Containers, Images and Selector of a workload. */
export function workloadCells(workload: unknown): readonly string[] {
  return [
    ...containerCells(at(workload, 'spec', 'template')),
    selectorText(at(workload, 'spec', 'selector')),
  ];
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

/** Addresses of a load balancer's status, sorted, each once. */
export function loadBalancerText(status: unknown): string {
  const addresses = listAt(status, 'loadBalancer', 'ingress').map((each) => {
    const ip = textAt(each, 'ip');
    return ip === '' ? textAt(each, 'hostname') : ip;
  });
  return [...new Set(addresses.filter((each) => each !== ''))].toSorted().join(',');
}

export function countOf(map: unknown, ...path: readonly string[]): number {
  return Object.keys(mapAt(map, ...path)).length;
}
