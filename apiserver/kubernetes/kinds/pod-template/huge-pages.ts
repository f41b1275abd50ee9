import type { PodSpec } from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid } from '../../../../shared/errors/field-error';
import { objectAt } from '../../../../shared/object/json';
import type { ReadonlyJson } from '../../../../shared/object/json';
import type { Strategy } from '../../../engine/registry/strategy';
import { isOn } from '../field-gates';
import { isHugePageReference, isRefusedHugePageReference } from './downward-api';
import { POD_PLACES } from './pod-places';
import { isHugePages } from './resource-requirements';

/**
 * The strategy that follows the gates of huge pages: pods and templates show their amounts to containers only with DownwardAPIHugePages,
 * and pods have several sizes only with HugePageStorageMediumSize. An object that has several sizes keeps them when the gate is switched off.
 */
export function withHugePages(resource: string, strategy: Strategy | undefined): Strategy | undefined {
  const place = POD_PLACES.get(resource);
  if (place === undefined) return strategy;
  const { validateNew, validateUpdate } = strategy ?? {};
  const rules: Strategy = {
    ...strategy,
    ratchets: (all, previous, info) => {
      const faults = strategy?.ratchets?.(all, previous, info) ?? all;
      const { settings } = info;
      if (!faults.some(isRefusedHugePageReference)) return faults;
      const mayShow =
        isOn(settings, 'DownwardAPIHugePages') ||
        (previous !== undefined && showsHugePages(specAt(previous, place)));
      return mayShow ? faults.filter((fault) => !isRefusedHugePageReference(fault)) : faults;
    },
  };
  if (place.length > 0) return rules;
  return {
    ...rules,
    validateNew: (pod, info) => [
      ...(validateNew?.(pod, info) ?? []),
      ...(isOn(info.settings, MANY_SIZES) ? [] : severalSizes(specAt(pod, place))),
    ],
    validateUpdate: (next, previous, info) => [
      ...(isOn(info.settings, MANY_SIZES) ? [] : moreSizes(specAt(next, place), specAt(previous, place))),
      ...(validateUpdate?.(next, previous, info) ?? []),
    ],
  };
}

const MANY_SIZES = 'HugePageStorageMediumSize';

function specAt(object: ReadonlyJson, place: readonly string[]): Partial<PodSpec> {
  return [...place, 'spec'].reduce<ReadonlyJson>((at, name) => objectAt(at, name) ?? {}, object);
}

/** Files of a projected volume do not count, as upstream. */
function showsHugePages(spec: Partial<PodSpec>): boolean {
  const { containers, initContainers, ephemeralContainers, volumes } = spec;
  return (
    (volumes ?? []).some(({ downwardAPI }) =>
      (downwardAPI?.items ?? []).some(({ resourceFieldRef }) => isHugePageReference(resourceFieldRef)),
    ) ||
    [...(containers ?? []), ...(initContainers ?? []), ...(ephemeralContainers ?? [])].some(({ env }) =>
      (env ?? []).some(({ valueFrom }) => isHugePageReference(valueFrom?.resourceFieldRef)),
    )
  );
}

/** What a pod was before is looked at only where something is wrong. */
function moreSizes(next: Partial<PodSpec>, previous: Partial<PodSpec>): FieldError[] {
  const faults = severalSizes(next);
  return faults.length > 0 && severalSizes(previous).length > 0 ? [] : faults;
}

function severalSizes({ containers, initContainers }: Partial<PodSpec>): FieldError[] {
  const sizes = [...(initContainers ?? []), ...(containers ?? [])].flatMap(
    ({ resources: { limits = {}, requests = {} } }) =>
      [...Object.keys(limits), ...Object.keys(requests)].filter(isHugePages),
  );
  const distinct = [...new Set(sizes)].toSorted();
  return distinct.length > 1
    ? [invalid('spec', distinct, 'must use a single hugepage size in a pod spec')]
    : [];
}
